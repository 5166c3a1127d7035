// The upstream double (`hearonce-bench upstream`) for one test file: what it was asked, what it is to do wrong, what it hears.
//
// It stands beside HEARONCE_BINARY. Used by the tests of cloud backends; next file: cloud.test.mjs.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import path from 'node:path';

import { startProgram } from './program.mjs';

// bench/upstream/text_of.hpp
const words = `amber anchor apple arrow autumn basket beacon birch bottle breeze bridge butter candle canyon carpet castle cedar cherry
    circle cloud cobalt copper coral cotton cradle dawn desert dragon ember falcon feather fiddle forest garden ginger harbor hazel island
    jacket jungle kettle ladder lantern lemon marble meadow mirror needle oak ocean olive orchid paper pepper pillow river saddle silver
    spruce summer thunder valley velvet walnut`.split(/\s+/);

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** What the double hears in these bytes, and in no others. */
export function textOf(bytes) {
    return Array.from(createHash('sha256').update(bytes).digest().subarray(0, 12), (byte) => words[byte % words.length]).join(' ');
}

let made = 0;
/** A recording that no test has used before: a WAV file of `seconds` s of noise. */
export function newRecording(seconds = 0.5) {
    const data = Buffer.alloc(Math.round(seconds * 16000) * 2);
    let noise = ++made * 2654435761;
    for (let at = 0; at < data.length; at += 2) {
        noise = (Math.imul(noise, 1664525) + 1013904223) >>> 0;
        data.writeUInt16LE(noise >>> 16, at);
    }
    const head = Buffer.alloc(44);
    head.write('RIFF', 0);
    head.writeUInt32LE(36 + data.length, 4);
    head.write('WAVEfmt ', 8);
    head.writeUInt32LE(16, 16);
    head.writeUInt16LE(1, 20);
    head.writeUInt16LE(1, 22);
    head.writeUInt32LE(16000, 24);
    head.writeUInt32LE(32000, 28);
    head.writeUInt16LE(2, 32);
    head.writeUInt16LE(16, 34);
    head.write('data', 36);
    head.writeUInt32LE(data.length, 40);
    return Buffer.concat([head, data]);
}

/** Runs the double until stop() is called. */
export async function startUpstream(...flags) {
    const program = path.join(path.dirname(process.env.HEARONCE_BINARY), 'hearonce-bench');
    const running = await startProgram(program, ['upstream', '--listen', '127.0.0.1:0', ...flags]);
    const ask = async (where, body) => {
        const answer = await fetch(`${running.url}${where}`, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) });
        assert.equal(answer.status, 200, `${where}: ${answer.status}`);
        return answer.json();
    };
    return {
        ...running,
        stats: () => ask('/_stats'),
        /** Forgets what it was asked and every fault. */
        async reset() {
            await ask('/_faults', { script: [], always: '' });
            await ask('/_reset', {});
        },
        /** One fault a call, then none. */
        faults: (...script) => ask('/_faults', script),
        always: (fault) => ask('/_faults', { always: fault }),
        /** The only call since the last reset. */
        async onlyCall() {
            const { calls, last } = await ask('/_stats');
            assert.equal(calls, 1, 'calls');
            return last.at(-1);
        },
    };
}

/** The value of one header of a request as the double shows it. */
export const header = (request, name) => request.headers.find(([one]) => one.toLowerCase() === name)?.[1];

/** What a request's form says besides what the gateway words itself: the same list in the same order wherever it came through. */
export const callersFields = (request) => request.fields.filter(([name]) => !['model', 'response_format', 'stream'].includes(name));
