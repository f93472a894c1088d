// Runs SQL statements in DuckDB; prints the last one's rows as JSON, and with --warm the time of its second run.
import {DuckDBInstance} from '@duckdb/node-api';

const warm = process.argv[2] === '--warm';
const statements = process.argv.slice(warm ? 3 : 2);
const connection = await (await DuckDBInstance.create(':memory:')).connect();
for (const sql of statements.slice(0, -1)) await connection.run(sql);
let reader = await connection.runAndReadAll(statements.at(-1));
let seconds = null;
if (warm) {
    const start = process.hrtime.bigint();
    reader = await connection.runAndReadAll(statements.at(-1));
    seconds = Number(process.hrtime.bigint() - start) / 1e9;
}
console.log(JSON.stringify({seconds, rows: reader.getRowsJson()}));
