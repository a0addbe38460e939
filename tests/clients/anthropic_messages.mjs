
// Anthropic's SDK, of both kinds, asks a model with a script: code runs here.

import { load, url, key, ok, is, fails, end } from './lib/check.mjs';

const name = process.env.RETORT_SDK;
const { Anthropic } = load(name);
const old = name.endsWith('-0');
const client = new Anthropic({ baseURL: url + '/anthropic', apiKey: key,
    maxRetries: 0 });
const messages = old ? client.beta.messages : client.messages;
const ask = {
    model: 'm', max_tokens: 100,
    tools: [{ type: 'code_execution_20250825', name: 'code_execution' }],
    ...(old ? { betas: ['code-execution-2025-08-25'] } : {}),
};

function named(text) {
    return `${old ? 'SDK 0.x' : 'SDK 1.x'}: ${text}`;
}

function said(message) {
    return message.content.map((block) => block.type);
}

const all = ['text', 'server_tool_use', 'bash_code_execution_tool_result',
    'text'];
const first = { role: 'user', content: 'file' };

let m = await messages.create({ ...ask, messages: [first] });
is(said(m), all, named('a message has uses and results'));
is(m.content[2].content.stdout, '42\n', named('code ran'));
is([m.stop_reason, m.usage.input_tokens], ['end_turn', 20],
    named('to its end'));

const made = m.content[2].content.content[0];
is(made.type, 'bash_code_execution_output', named('it left a file'));
const file = await client.beta.files.download(made.file_id);
is(await file.text(), 'made\n', named('that can be downloaded'));

m = await messages.create({ ...ask, container: m.container.id,
    messages: [first, { role: 'assistant', content: m.content },
        { role: 'user', content: 'again' }] });
is(said(m), ['text'], named('a dialogue goes on'));

const events = [];
const stream = messages.stream({ ...ask, messages: [first] })
    .on('streamEvent', (event) => events.push(event.type));
m = await stream.finalMessage();
is(said(m), all, named('a stream comes to the same message'));
is(m.content[1].input.command.slice(0, 4), 'echo', named('inputs and all'));
is([events[0], events.at(-1)], ['message_start', 'message_stop'],
    named('from its beginning to its end'));

const beta = client.beta.messages.stream({ ...ask, messages: [first] });
const seen = [];
beta.on('contentBlock', (block) => seen.push(block.type));
m = await beta.finalMessage();
is(seen, all, named('a beta stream has its blocks one by one'));
is([m.content[2].content.stdout, m.stop_reason, m.container.skills],
    ['42\n', 'end_turn', null], named('and comes to a whole message'));

const cut = await fails(client.beta.messages.stream({ ...ask,
    messages: [{ role: 'user', content: 'cut' }] }).finalMessage(),
    named('a model that is cut off ends a stream'));
ok(/no end/.test(cut.message), named('with the reason'), cut.message);

const e = await fails(messages.create({ ...ask,
    messages: [{ role: 'user', content: 'busy' }] }),
    named('a model that is busy is an error'));
is([e.status, e.constructor.name],
    [529, old ? 'InternalServerError' : 'OverloadedError'],
    named('as the SDK knows it'));
ok(/^req_/.test(e.requestID ?? ''), named('with an id'));
end();
