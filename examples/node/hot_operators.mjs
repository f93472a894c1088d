// Load libprofana in Node through better-sqlite3.
//
//   npm install && node hot_operators.mjs PROFILE LIBRARY
import Database from 'better-sqlite3';

const [profile, library] = process.argv.slice(2);
const db = new Database(':memory:');
db.loadExtension(library.replace(/\.so$/, ''));
db.prepare('SELECT profana_open(?, ?)').get('run', profile);
for (const row of db.prepare('SELECT op_type, calls, total_ns FROM hot_op').all()) {
    console.log(`${row.op_type} ${row.calls} ${row.total_ns}`);
}
