// Calls the fixture server with the protocol's official TypeScript SDK, in whatever version lies in the folder it is given.
//
// node client.mjs SDK-FOLDER EXPECTED-REVISION stdio PROGRAM | http URL
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';

const [sdk, revision, way, target] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(`${sdk}/dist/esm/client/${file}.js`));
const { Client } = await load('index');
const { StdioClientTransport } = await load('stdio');
const { StreamableHTTPClientTransport } = await load('streamableHttp');

const client = new Client({ name: 'judge', version: '1' }, { capabilities: {} });
// What the SDK could not read is told here and nowhere else.
const unread = [];
client.onerror = (error) => unread.push(error);

const transport = way === 'stdio'
    ? new StdioClientTransport({ command: target, args: ['stdio'] })
    : new StreamableHTTPClientTransport(new URL(target));
// Since when it says its revision differs from version to version; the answer to `initialize` has said it always.
let negotiated;
const receive = (message) => { negotiated ??= message?.result?.protocolVersion; };
await client.connect(new Proxy(transport, {
    set(to, key, value) {
        to[key] = key === 'onmessage' ? (message, ...more) => { receive(message); value(message, ...more); } : value;
        return true;
    },
    get(of, key) {
        const value = of[key];
        return typeof value === 'function' && !['onmessage', 'onclose', 'onerror'].includes(key) ? value.bind(of) : value;
    },
}));
assert.equal(negotiated, revision);
const hasStructured = revision >= '2025-06-18';

const { tools } = await client.listTools();
const tool = (name) => tools.find((one) => one.name === name) ?? assert.fail(`no tool ${name}`);
assert.equal(tool('test_structured_content').inputSchema.properties.a.maximum, 1000);
assert.equal(tool('test_structured_content').outputSchema?.type, hasStructured ? 'object' : undefined);
assert.equal(tool('test_simple_text').annotations.readOnlyHint, true);

const call = (name, args = {}, ...more) => client.callTool({ name, arguments: args }, undefined, ...more);
const text = await call('test_simple_text');
assert.ok(!text.isError);
assert.match(text.content[0].text, /simple text/);

const structured = await call('test_structured_content', { a: 5, b: 6 });
assert.equal(structured.content[0].text, '{"sum":11}');
assert.deepEqual(structured.structuredContent, hasStructured ? { sum: 11 } : undefined);

const violation = await call('test_structured_content', { a: 5000, b: 6 });
assert.equal(violation.isError, true);
assert.match(violation.content[0].text, /only small numbers/);

const failure = await call('test_error_handling');
assert.equal(failure.isError, true);

const audio = await call('test_audio_content');
assert.equal(audio.content.at(-1).type, 'audio');

const reports = [];
await call('test_tool_with_progress', {}, { onprogress: (report) => reports.push(report.progress) });
assert.deepEqual(reports, [0, 50, 100]);

await assert.rejects(call('no_such_tool'), (error) => error.code === -32602);
await client.ping();
await client.close();
// One that was told to end a stream may say so.
const faults = unread.filter((error) => !/abort/i.test(`${error.name} ${error.message}`));
assert.deepEqual(faults, []);
