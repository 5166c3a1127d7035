// Starts the real gateway on a free port for one test file and ends it; knows where the test recordings are.
//
// HEARONCE_BINARY is the program. Used by every *.test.mjs beside this file.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { startProgram } from './program.mjs';

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

/**
 * Runs `hearonce serve` with these settings until stop() is called; resolves once it listens.
 */
export async function startGateway(settings = localEngine, variables = {}) {
    const program = process.env.HEARONCE_BINARY;
    assert.ok(program, 'HEARONCE_BINARY names the gateway to test');
    const args = ['serve', '--set', 'server.listen=127.0.0.1:0'];
    for (const [key, value] of Object.entries(settings)) args.push('--set', `${key}=${value}`);
    return startProgram(program, args, variables);
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
