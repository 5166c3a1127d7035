// Runs one of our programs for a test file until stop() is called: it is up once it has said where it listens.
//
// Next files: gateway.mjs, upstream.mjs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';

const startSeconds = 60;

/** Nothing of this machine's own configuration or keys takes part, but for `variables`. Resolves to { url, log(), stop() }. */
export async function startProgram(program, args, variables = {}) {
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent', ...variables };
    for (const name of ['ASAN_OPTIONS', 'TSAN_OPTIONS', 'UBSAN_OPTIONS']) if (process.env[name]) env[name] = process.env[name];
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });

    let log = '';
    const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal })));
    const url = await new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no 'listening on' line after ${startSeconds} s:\n${log}`)), startSeconds * 1000);
        const read = (chunk) => {
            log += chunk;
            const found = /listening on (http:\/\/[0-9.:]+)/.exec(log);
            if (found) {
                clearTimeout(late);
                resolve(found[1]);
            }
        };
        child.stdout.on('data', read);
        child.stderr.on('data', read);
        child.on('error', reject);
        ended.then(({ code, signal }) => reject(new Error(`${program} ended (${code ?? signal}) before it listened:\n${log}`)));
    }).catch((error) => {
        child.kill('SIGKILL');
        throw error;
    });

    return {
        url,
        log: () => log,
        /** Ends it as a service manager would, and checks that it went in order. */
        async stop(signal = 'SIGTERM') {
            child.kill(signal);
            const end = await ended;
            assert.deepEqual(end, { code: 0, signal: null }, `${program} did not end in order:\n${log}`);
        },
    };
}
