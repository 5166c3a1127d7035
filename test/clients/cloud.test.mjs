// OpenAI's own client through the gateway to a server of OpenAI's API, against the same client asking that server by itself:
// the same answers, and the same fields, once each.
//
// OPENAI_CLIENT names the installed release. Next file: cloud_refusals.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';

import { cacheStatus, startGateway } from './gateway.mjs';
import { callersFields, header, newRecording, sha256, startUpstream, textOf } from './upstream.mjs';

const release = process.env.OPENAI_CLIENT ?? 'openai7';
const { default: OpenAI, toFile } = await import(release);
const streamsUploads = release !== 'openai6buffered'; // Since 6.47: a file's stream goes out as it is read, chunked.

const operatorsKey = 'operators-key';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hearonce-clients-'));
let upstream;
let gateway;
let through; // the gateway
let direct; // to the upstream

before(async () => {
    upstream = await startUpstream('--key', operatorsKey);
    gateway = await startGateway({
        'backends.cloud.kind': 'openai', 'backends.cloud.base_url': `${upstream.url}/v1`, 'backends.cloud.api_key': operatorsKey,
    });
    through = new OpenAI({ apiKey: 'callers-key', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    direct = new OpenAI({ apiKey: operatorsKey, baseURL: `${upstream.url}/v1`, maxRetries: 0 });
});
beforeEach(() => upstream.reset());
after(async () => {
    await gateway?.stop();
    await upstream?.stop();
    fs.rmSync(folder, { recursive: true });
});

/** The bytes as a file on disk: what an application records and then reads. */
function onDisk(bytes, name = 'note.wav') {
    const file = path.join(fs.mkdtempSync(path.join(folder, 'file-')), name);
    fs.writeFileSync(file, bytes);
    return file;
}
const ways = {
    'a stream': (bytes) => fs.createReadStream(onDisk(bytes)),
    'a buffer': (bytes) => toFile(bytes, 'note.wav'),
};

async function gathered(answer) {
    if (typeof answer?.[Symbol.asyncIterator] !== 'function') return answer;
    const events = [];
    for await (const event of answer) events.push(event);
    return events;
}

const textIn = (answer) => {
    if (Array.isArray(answer)) return answer.at(-1).text;
    return typeof answer === 'string' ? answer : answer.text;
};

// As whoever asks for it gets it: subtitles, for one, hold the words in lines.
const wordsOf = (text) => text.replace(/^WEBVTT|^\d+$|^\S+ --> \S+$/gm, ' ').trim().split(/\s+/).join(' ');

const speaker = `data:audio/wav;base64,${newRecording(0.1).toString('base64')}`;
const vad = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 200 };
const cases = {
    'whisper-1': {
        'json': {},
        'json with every setting': { language: 'en', prompt: 'Zoë, "quoted"\nand a line', temperature: 0.2 },
        'json with an empty list and a setting nobody knows yet': { timestamp_granularities: [], novel_setting: 'yes', novel: { deep: ['a', 'b'] } },
        'text': { response_format: 'text' },
        'srt': { response_format: 'srt' },
        'vtt': { response_format: 'vtt' },
        'verbose_json': { response_format: 'verbose_json' },
        'segments': { response_format: 'verbose_json', timestamp_granularities: ['segment'], language: 'de' },
        'words and segments': { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
    },
    'gpt-4o-transcribe': {
        'json': { prompt: 'note' },
        'text': { response_format: 'text' },
        'logprobs': { include: ['logprobs'], response_format: 'json' },
        'a stream': { stream: true },
        'a stream with logprobs': { stream: true, include: ['logprobs'], temperature: 0 },
        'voice detection with settings': { chunking_strategy: vad },
    },
    'gpt-4o-mini-transcribe': { 'json': {}, 'a stream': { stream: true, language: 'fr' } },
    'gpt-transcribe': {
        'json': { languages: ['en', 'de'], keywords: ['hearonce', 'Größe', 'hearonce'], prompt: 'note' },
        'text': { response_format: 'text' },
        'a stream': { stream: true, keywords: ['one'] },
    },
    'gpt-4o-transcribe-diarize': {
        'json': { chunking_strategy: 'auto' },
        'text': { response_format: 'text' },
        'turns': { response_format: 'diarized_json', chunking_strategy: 'auto' },
        'turns of known speakers': {
            response_format: 'diarized_json', chunking_strategy: vad, known_speaker_names: ['anna', 'ben'], known_speaker_references: [speaker, speaker],
        },
        'a stream': { response_format: 'diarized_json', chunking_strategy: 'auto', stream: true },
    },
};

for (const [model, settings] of Object.entries(cases)) {
    describe(`${release}: ${model} through the gateway as without it`, () => {
        for (const [what, fields] of Object.entries(settings)) {
            for (const [way, open] of Object.entries(ways)) {
                it(`${what}, from ${way}`, async () => {
                    const bytes = newRecording();
                    const ask = async (client) => gathered(await client.audio.transcriptions.create({ file: await open(bytes), model, ...fields }));
                    const expected = await ask(direct);
                    const asked = await upstream.onlyCall();
                    assert.equal(header(asked, 'transfer-encoding') === 'chunked', streamsUploads && way === 'a stream');
                    await upstream.reset();

                    const answer = await ask(through);
                    assert.deepEqual(answer, expected);
                    assert.equal(wordsOf(textIn(answer)), textOf(bytes));
                    const sent = await upstream.onlyCall();
                    assert.deepEqual(callersFields(sent), callersFields(asked));
                    assert.deepEqual(sent.fields.filter(([name]) => name === 'model'), [['model', model]]);
                    assert.equal(header(sent, 'authorization'), `Bearer ${operatorsKey}`);
                    assert.deepEqual(sent.files, [{ field: 'file', name: 'note.wav', type: 'audio/wav', bytes: bytes.length, sha256: sha256(bytes) }]);
                });
            }
        }
    });
}

describe(`${release}: what the gateway words differently`, () => {
    const file = () => toFile(newRecording(), 'note.wav');

    it('words alone are asked for with segments, which subtitles of the same work need', async () => {
        const bytes = newRecording();
        const ask = async (fields, client = through) => client.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'whisper-1', ...fields });
        const alone = { response_format: 'verbose_json', timestamp_granularities: ['word'] };
        const expected = await ask(alone, direct);
        await upstream.reset();
        assert.deepEqual(await ask(alone), expected);
        assert.ok(expected.words.length === 12 && !expected.segments);
        const granularities = (await upstream.onlyCall()).fields.filter(([name]) => name === 'timestamp_granularities[]');
        assert.deepEqual(granularities.map(([, value]) => value), ['word', 'segment']);
    });

    it('granularities are not sent with json, where strict servers refuse them', async () => {
        await through.audio.transcriptions.create({ file: await file(), model: 'whisper-1', timestamp_granularities: ['segment'] });
        assert.deepEqual(callersFields(await upstream.onlyCall()), []);
    });

    it('whisper-1 does not stream, and its caller gets a stream all the same', async () => {
        const bytes = newRecording();
        const events = await gathered(await through.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'whisper-1', stream: true }));
        assert.deepEqual(events.map(({ type }) => type), ['transcript.text.delta', 'transcript.text.done']);
        assert.equal(events[0].delta, textOf(bytes));
        assert.equal(events[1].text, textOf(bytes));
    });

    it('every format of a class is one piece of work', async () => {
        const bytes = newRecording();
        const ask = async (response_format, model) => gathered(await through.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model, response_format }));
        for (const format of ['srt', 'vtt', 'verbose_json']) assert.equal(wordsOf(textIn(await ask(format, 'whisper-1'))), textOf(bytes));
        assert.equal((await upstream.stats()).calls, 1);
        for (const format of ['text', 'json']) assert.equal(textIn(await ask(format, 'whisper-1')).trim(), textOf(bytes));
        assert.equal((await upstream.stats()).calls, 2);
    });
});

describe(`${release}: names that upstreams refuse`, () => {
    // By the bytes of each container; the rest is noise that makes the recording one of its own.
    const inside = (beginning) => Buffer.concat([Buffer.from(beginning, 'latin1'), newRecording()]);
    const ogg = 'OggS\0\x02' + '\0'.repeat(20) + '\x01\x13OpusHead\x01\x01\x38\x01\x80\xbb\0\0\0\0\0';
    const webm = '\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82\x84webm\x42\x87\x81\x04\x42\x85\x81\x02';
    const names = {
        'blob': [() => newRecording(), 'blob.wav', 'audio/wav'],
        'voice.oga': [() => inside(ogg), 'voice.ogg', 'audio/ogg'],
        'voice.weba': [() => inside(webm), 'voice.webm', 'audio/webm'],
        'voice.WAV': [() => newRecording(), 'voice.wav', 'audio/wav'],
        'note.mp3': [() => newRecording(), 'note.wav', 'audio/wav'],
        'Notiz "für" später 録音': [() => newRecording(), 'Notiz "für" später 録音.wav', 'audio/wav'],
    };
    for (const [name, [make, repaired, type]] of Object.entries(names)) {
        for (const [way, open] of Object.entries({ 'a stream': (bytes) => fs.createReadStream(onDisk(bytes, name)), 'a buffer': (bytes) => toFile(bytes, name) })) {
            it(`${name}, from ${way}`, async () => {
                const bytes = make();
                const answer = await through.audio.transcriptions.create({ file: await open(bytes), model: 'gpt-transcribe' });
                assert.equal(answer.text, textOf(bytes));
                const [file] = (await upstream.onlyCall()).files;
                assert.deepEqual([file.name, file.type, file.sha256], [repaired, type, sha256(bytes)]);
            });
        }
    }

    it('no name at all', async () => {
        const bytes = newRecording();
        const answer = await through.audio.transcriptions.create({ file: new Response(bytes), model: 'gpt-transcribe' });
        assert.equal(answer.text, textOf(bytes));
        assert.match((await upstream.onlyCall()).files[0].name, /\.wav$/);
    });
});

describe(`${release}: translations, models and work done once`, () => {
    for (const response_format of ['json', 'text', 'srt', 'vtt', 'verbose_json']) {
        it(`translates to ${response_format}`, async () => {
            const bytes = newRecording();
            const ask = async (client) => client.audio.translations.create({ file: await toFile(bytes, 'note.wav'), model: 'whisper-1', prompt: 'note', temperature: 0.5, response_format });
            const expected = await ask(direct);
            const asked = await upstream.onlyCall();
            await upstream.reset();
            const answer = await ask(through);
            assert.deepEqual(answer, expected);
            assert.equal(wordsOf(textIn(answer)), textOf(bytes));
            const sent = await upstream.onlyCall();
            assert.equal(sent.path, '/v1/audio/translations');
            assert.deepEqual(callersFields(sent), callersFields(asked));
        });
    }

    it('a translation is not the transcription of the same recording', async () => {
        const file = await toFile(newRecording(), 'note.wav');
        await through.audio.translations.create({ file, model: 'whisper-1' });
        await through.audio.transcriptions.create({ file, model: 'whisper-1' });
        assert.equal((await upstream.stats()).calls, 2);
    });

    it('lists the models, and those of OpenAI with the day on which they end', async () => {
        const listed = (await through.models.list()).data;
        assert.ok(listed.some(({ id }) => id === 'whisper-1'));
        for (const one of listed) assert.deepEqual([one.object, one.owned_by, one.shutdown_date], ['model', 'cloud', null]);
        assert.equal((await through.models.retrieve('gpt-4o-transcribe')).id, 'gpt-4o-transcribe');
        assert.equal((await upstream.stats()).other_requests, 0);

        const openais = await startGateway({ 'backends.openai.api_key': 'not-a-key' });
        try {
            const one = new OpenAI({ apiKey: 'unused', baseURL: `${openais.url}/v1` });
            const ends = Object.fromEntries((await one.models.list()).data.map(({ id, shutdown_date }) => [id, shutdown_date]));
            assert.deepEqual(ends, {
                'gpt-transcribe': null, 'gpt-4o-transcribe': '2027-02-26', 'gpt-4o-mini-transcribe': '2027-02-26',
                'gpt-4o-mini-transcribe-2025-12-15': '2027-02-26', 'gpt-4o-transcribe-diarize': '2027-02-26', 'whisper-1': '2027-02-26',
            });
            assert.equal((await one.models.retrieve('whisper-1')).shutdown_date, '2027-02-26');
        } finally {
            await openais.stop();
        }
    });

    for (const [way, open] of Object.entries(ways)) {
        it(`two equal uploads at once, from ${way}, are one call`, async () => {
            await upstream.always('delay=300ms');
            const bytes = newRecording();
            const ask = async () => through.audio.transcriptions.create({ file: await open(bytes), model: 'whisper-1' }).withResponse();
            const answers = await Promise.all([ask(), ask()]);
            assert.deepEqual(answers.map(({ response }) => cacheStatus(response)).sort(), ['collapsed', 'miss stored']);
            assert.deepEqual(answers.map(({ data }) => data.text), [textOf(bytes), textOf(bytes)]);
            const { by_sha256: calls } = await upstream.stats();
            assert.deepEqual(calls, { [sha256(bytes)]: 1 });
        });
    }

    it('whoever joins a stream late gets all of it', async () => {
        await upstream.always('pace=30ms');
        const bytes = newRecording();
        const ask = async () => through.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'gpt-4o-transcribe', stream: true });
        const early = [];
        let late;
        for await (const event of await ask()) {
            early.push(event);
            if (early.length === 3) late = ask().then(gathered);
        }
        assert.ok(early.length > 5);
        const joined = (events) => events.filter(({ type }) => type === 'transcript.text.delta').map(({ delta }) => delta).join('');
        assert.equal(joined(early), textOf(bytes));
        assert.equal(joined(await late), textOf(bytes));
        assert.equal((await late).at(-1).type, 'transcript.text.done');
        assert.equal((await upstream.stats()).calls, 1);
    });
});
