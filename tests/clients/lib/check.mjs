
// What the clients' scripts share.  Their packages are where auto/npm put
// them; each check is a line on stdout, which Retort::Clients counts.

import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';

export const load = createRequire(process.env.RETORT_CLIENTS + '/');
export const url = process.env.RETORT_URL;
export const key = process.env.RETORT_KEY;

export function ok(holds, name, why) {
    console.log((holds ? 'ok ' : 'not ok ') + name.replaceAll('\n', ' '));

    if (!holds && why !== undefined) {
        console.log('# ' + String(why).replaceAll('\n', '\n# '));
    }

    return holds;
}

export function is(got, wanted, name) {
    return ok(isDeepStrictEqual(got, wanted), name,
        `got ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
}

// what must fail: the error that it fails with, for more checks

export async function fails(promise, name) {
    try {
        const got = await promise;
        ok(false, name, `it gave ${JSON.stringify(got)}`);
        return new Error('it did not fail');
    } catch (e) {
        ok(true, name);
        return e;
    }
}

// waits for a state; only a failure waits for all of it

export async function until(holds, seconds = 20) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
        const got = await holds();

        if (got) {
            return got;
        }

        await new Promise((done) => setTimeout(done, 50));
    }

    return false;
}

// the last line: without it the script did not come to its end

export function end() {
    console.log('end');
}
