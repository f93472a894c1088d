// The rows of every public view, as the SQLite of Node counts them: a line `name rows` for each, or the error.
//
//   node every_view.mjs LIBRARY BASE COMPARISON; run in examples/node, where better-sqlite3 is installed
import { createRequire } from 'node:module';

const Database = createRequire(process.cwd() + '/')('better-sqlite3');
const [library, base, comparison] = process.argv.slice(2);
const db = new Database(':memory:');
db.loadExtension(library.replace(/\.so$/, ''));
db.prepare('SELECT profana_open(?, ?), profana_open(?, ?)').get('base', base, 'comparison', comparison);

const tell = (name, sql) => {
    try {
        console.log(`${name} ${db.prepare(sql).all().length}`);
    } catch (error) {
        console.log(`${name} ${error.message}`);
    }
};
const views = "SELECT name FROM sqlite_temp_schema WHERE type = 'view' AND name NOT GLOB '_*' ORDER BY name";
for (const { name } of db.prepare(views).all()) tell(name, `SELECT * FROM ${name}`);
