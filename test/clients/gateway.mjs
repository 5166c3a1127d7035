// Starts the real gateway on a free port for one test file and ends it; knows where the test recordings are.
//
// HEARONCE_BINARY is the program. Used by every *.test.mjs beside this file.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const data = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../data');
export const truth = JSON.parse(fs.readFileSync(path.join(data, 'wav/truth.json'), 'utf8'));
export const wav = (name) => path.join(data, 'wav', `${name}.wav`);
export const said = (name) => truth[`${name}.wav`];
export const model = path.join(data, 'ggml-micro.en.bin');

/** The settings with which the gateway recognises speech itself. */
export const localEngine = {
    'backends.local.kind': 'whisper',
    'backends.local.model': model,
    'backends.local.no_context': 'true',
};

const startSeconds = 60;

/**
 * Runs `hearonce serve` with these settings until stop() is called. Nothing of this machine's own configuration or keys takes part.
 * Resolves once the gateway has said where it listens.
 */
export async function startGateway(settings = localEngine) {
    const program = process.env.HEARONCE_BINARY;
    assert.ok(program, 'HEARONCE_BINARY names the gateway to test');
    const args = ['serve', '--set', 'server.listen=127.0.0.1:0'];
    for (const [key, value] of Object.entries(settings)) args.push('--set', `${key}=${value}`);
    const env = { PATH: process.env.PATH, HOME: '/nonexistent', XDG_CONFIG_HOME: '/nonexistent' };
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
        ended.then(({ code, signal }) => reject(new Error(`the gateway ended (${code ?? signal}) before it listened:\n${log}`)));
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
            assert.deepEqual(end, { code: 0, signal: null }, `the gateway did not end in order:\n${log}`);
        },
    };
}

/** What Cache-Status says, without the parts that vary: 'miss stored', 'miss', 'collapsed', 'hit', 'request' or 'request stored'. */
export function cacheStatus(response) {
    const value = response.headers.get('cache-status') ?? '';
    assert.match(value, /^hearonce(;|$)/, `Cache-Status: ${value}`);
    const words = value.split(';').slice(1).map((w) => w.trim());
    if (words.includes('hit')) return 'hit';
    if (words.includes('collapsed')) return 'collapsed';
    const forward = words.find((w) => w.startsWith('fwd='))?.slice(4) ?? 'nothing';
    return words.includes('stored') ? `${forward} stored` : forward;
}
