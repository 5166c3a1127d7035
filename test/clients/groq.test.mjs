// Groq's own client through the gateway to a server such as Groq's: it writes /openai/v1 before every path by itself. Next file:
// cloud_gemini.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, it } from 'node:test';

import Groq, { toFile } from 'groq-sdk';

import { cacheStatus, startGateway } from './gateway.mjs';
import { callersFields, header, newRecording, sha256, startUpstream, textOf } from './upstream.mjs';

const operatorsKey = 'gsk_operators';
let upstream;
let gateway;
let through;
let direct;

before(async () => {
    upstream = await startUpstream('--key', operatorsKey);
    gateway = await startGateway({
        'backends.groq.kind': 'openai', 'backends.groq.base_url': `${upstream.url}/openai/v1`, 'backends.groq.api_key': operatorsKey,
        'backends.groq.models': '["whisper-large-v3*"]', 'backends.groq.default_model': 'whisper-large-v3-turbo', 'retry.attempts': '1',
    });
    through = new Groq({ apiKey: 'unused', baseURL: gateway.url });
    direct = new Groq({ apiKey: operatorsKey, baseURL: upstream.url });
});
beforeEach(() => upstream.reset());
after(async () => {
    await gateway?.stop();
    await upstream?.stop();
});

const cases = {
    'json': {},
    'json with every setting': { language: 'en', prompt: 'Zoë\n"note"', temperature: 0.2, response_format: 'json' },
    'text': { response_format: 'text' },
    'segments': { response_format: 'verbose_json', timestamp_granularities: ['segment'] },
    'words and segments': { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
};
for (const [what, fields] of Object.entries(cases)) {
    for (const kind of ['transcriptions', 'translations']) {
        if (kind === 'translations' && fields.timestamp_granularities) continue;
        it(`${kind} as ${what}: as without the gateway`, async () => {
            const bytes = newRecording();
            const ask = async (client) => client.audio[kind].create({ file: await toFile(bytes, 'note.wav'), model: 'whisper-large-v3', ...fields });
            const expected = await ask(direct);
            const asked = await upstream.onlyCall();
            await upstream.reset();
            const answer = await ask(through);
            assert.deepEqual(answer, expected);
            assert.equal((answer.text ?? answer).trim(), textOf(bytes));
            const sent = await upstream.onlyCall();
            assert.deepEqual(callersFields(sent), callersFields(asked));
            assert.deepEqual([sent.path, header(sent, 'authorization')], [`/openai/v1/audio/${kind}`, `Bearer ${operatorsKey}`]);
            assert.deepEqual(sent.files.map((file) => [file.name, file.type, file.sha256]), [['note.wav', 'audio/wav', sha256(bytes)]]);
        });
    }
}

it('a file that is read from disk', async () => {
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'hearonce-clients-')), 'blob');
    const bytes = newRecording();
    fs.writeFileSync(file, bytes);
    try {
        const answer = await through.audio.transcriptions.create({ file: fs.createReadStream(file), model: 'whisper-large-v3-turbo' });
        assert.equal(answer.text, textOf(bytes));
        assert.equal((await upstream.onlyCall()).files[0].name, 'blob.wav');
    } finally {
        fs.rmSync(path.dirname(file), { recursive: true });
    }
});

it('lists the models', async () => {
    const { data } = await through.models.list();
    assert.deepEqual(data.map(({ id, owned_by }) => [id, owned_by]), [['whisper-large-v3-turbo', 'groq']]);
    assert.equal((await through.models.retrieve('whisper-large-v3')).id, 'whisper-large-v3');
});

it('two equal uploads at once are one call', async () => {
    await upstream.always('delay=300ms');
    const bytes = newRecording();
    const ask = async () => through.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'whisper-large-v3' }).withResponse();
    const answers = await Promise.all([ask(), ask()]);
    assert.deepEqual(answers.map(({ response }) => cacheStatus(response)).sort(), ['collapsed', 'miss stored']);
    assert.deepEqual((await upstream.stats()).by_sha256, { [sha256(bytes)]: 1 });
});

it('obeys Retry-After, and its second request succeeds', async () => {
    await upstream.faults('status=429, retry_after=1');
    const bytes = newRecording();
    const began = performance.now();
    const answer = await through.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'whisper-large-v3' });
    assert.equal(answer.text, textOf(bytes));
    assert.ok(performance.now() - began >= 990);
    assert.equal((await upstream.stats()).calls, 2);
});

it('an address in place of a file is refused: the gateway fetches nothing for anybody', async () => {
    const error = await through.audio.transcriptions.create({ url: `${upstream.url}/note.wav`, model: 'whisper-large-v3' }).then(assert.fail, (why) => why);
    assert.ok(error instanceof Groq.APIError, String(error));
    assert.deepEqual([error.status, error.error?.error?.code], [400, 'missing_file']);
    const { calls, other_requests: others } = await upstream.stats();
    assert.deepEqual([calls, others], [0, 0]);
});
