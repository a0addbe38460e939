
// MCP's SDK with the server of a pool, which has no sessions and capabilities
// of its own.

import { load, url, key, ok, is, end } from './lib/check.mjs';

const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } =
    load('@modelcontextprotocol/sdk/client/streamableHttp.js');

const client = new Client({ name: 'test', version: '1' });

await client.connect(new StreamableHTTPClientTransport(
    new URL(url + '/azure/mcp'), {
        requestInit: { headers: { 'x-ms-apikey': key } },
    }));
is(client.getServerVersion().name, 'Microsoft Container Apps MCP Server',
    'the server says what Azure\'s says');

const { tools } = await client.listTools();
is(tools.length, 3, 'three tools are listed');

const call = async (name, args) =>
    client.callTool({ name, arguments: args });

let r = await call('launchShell', {});
const environmentId = r.structuredContent.environmentId;
ok(environmentId.length === 36, 'an environment is named');
r = await call('runPythonCodeInRemoteEnvironment',
    { environmentId, pythonCode: 'y = 6\nprint(y * 7)\ny' });
is([r.structuredContent.stdout, r.structuredContent.executionResult],
    ['42\n', 6], 'code runs in it, and its result fits the schema');
r = await call('runPythonCodeInRemoteEnvironment',
    { environmentId, pythonCode: '1/0' });
ok(/ZeroDivisionError/.test(r.structuredContent.stderr),
    'so does that of code that fails');
r = await call('runShellCommandInRemoteEnvironment',
    { environmentId, shellCommand: 'pwd; exit 3' });
is([r.structuredContent.stdout, r.structuredContent.exitCode],
    ['/workspace\n', 3], 'a command runs in it');

const e = await call('runShellCommandInRemoteEnvironment', { environmentId })
    .catch((error) => error);
is(e.code, -32602, 'bad arguments are an error of JSON-RPC');
await client.close();
end();
