
// Prisme's tool, as the official clients hear of it: when it runs, and when
// there is nobody behind the web server.

import { load, url, ok, is, end } from './lib/check.mjs';

const sdks = {
    sdk: ['@modelcontextprotocol/sdk/client/index.js',
        '@modelcontextprotocol/sdk/client/streamableHttp.js'],
    client: ['@modelcontextprotocol/client', '@modelcontextprotocol/client'],
};

for (const [name, [one, two]] of Object.entries(sdks)) {
    const { Client } = load(one);
    const { StreamableHTTPClientTransport } = load(two);
    let where = '/prisme/mcp';
    const client = new Client({ name: 'test', version: '1' });
    const call = () => client.callTool({ name: 'execute_python',
        arguments: { code: 'print(6 * 7)' } });

    await client.connect(new StreamableHTTPClientTransport(
        new URL(url + where),
        { fetch: (at, how) => fetch(url + where, how) }));

    let r = await call();
    is(r.structuredContent, { result: '42\n', logs: [] },
        `${name}: a script runs`);

    where = '/away/mcp';
    r = await call();
    is([r.isError, r.structuredContent.error.code],
        [true, 'CodeSandboxUnreachable'],
        `${name}: nobody is there, and that is the tool's result`);

    where = '/limited/mcp';
    r = await call().then(call);
    is([r.isError, r.structuredContent.error.code],
        [true, 'CodeSandboxUnreachable'], `${name}: so is a limit`);
    ok(/too many requests/.test(r.structuredContent.error.message),
        `${name}: which is told`, r.structuredContent.error.message);

    await client.close();
}

end();
