
// LlamaIndex's tool for Azure's dynamic sessions, unmodified.

import { load, url, key, ok, is, end } from './lib/check.mjs';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';

const { AzureDynamicSessionTool } = load('@llamaindex/azure');
const said = console.log;

// it tells its whole life on stdout, where our checks are

async function quiet(what) {
    console.log = () => {};

    try {
        return await what();
    } finally {
        console.log = said;
    }
}

function tool(sessionId) {
    const t = new AzureDynamicSessionTool({
        sessionId, poolManagementEndpoint: url + '/azure',
        azureADTokenProvider: async () => key,
    });
    t.outputDir = process.env.HOME;
    return t;
}

const a = tool('llama-1');
const run = (code, t = a) => quiet(() => t.call({ code }));

let r = await run('x = 6\nprint("hi")\nx * 7');
is([r.status, r.stdout, r.stderr], ['Success', 'hi\n', ''], 'code runs');
r = await run('str(x)');
is(r.result, '6', 'its variables stay');
r = await run('print(1)');
is(r.result, '', 'no value is an empty one');
r = await run('1/0');
is(r.status, 'Failure', 'a failure is one');
ok(/ZeroDivisionError/.test(r.stderr), 'and has its traceback');
r = await run('import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()');
// the file's path, as the tool tells it, has its name twice
ok(readFileSync(dirname(r.result)).subarray(1, 4).toString() === 'PNG',
    'a figure is written to a file');
r = await run('x', tool('llama-2'));
ok(/NameError/.test(r.stderr), 'another session has its own variables');

const file = await a.uploadFile({ data: new Blob(['1,2\n']),
                                  remoteFilename: 'a.csv' });
is([file.filename, file.size], ['a.csv', 4], 'a file is uploaded');
r = await run('open("/mnt/data/a.csv").read()');
is(r.result, '1,2\n', 'code reads it');
is((await a.listFiles()).map((f) => f.filename), ['a.csv'], 'it is listed');

const body = await a.downloadFile({ remoteFilename: 'a.csv' });
is(await new Response(body).text(), '1,2\n', 'and downloaded');
end();
