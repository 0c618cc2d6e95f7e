import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../run/runRecord.js';
import { metricsCsv } from './csv.js';
import { metricSeries } from './series.js';
import { crc32c, tensorboardEvents } from './tensorboard.js';
import { writeMetrics } from './writeMetrics.js';

const at = '2026-01-01T00:00:01.500Z';
const step = (number: number, metrics: Record<string, number>): RunEvent => ({
  at,
  type: 'step',
  step: number,
  metrics,
  groups: [],
});
const events: RunEvent[] = [
  { at, type: 'started', pid: 1, resumedFromStep: null },
  { at, type: 'warm-start', update: 1, updates: 1, metrics: { loss: 2 } },
  step(1, { reward: 0.1, kl: 0 }),
  step(2, { reward: 0.2, 'rewards/a,"b"/mean': 1 }),
  // The run was killed and did its second step again.
  step(2, { reward: 0.25 }),
  {
    at,
    type: 'evaluation',
    step: 2,
    split: 'heldout',
    success: { rate: 0.5, interval: [0.1, 0.9], n: 2 },
    meanReward: 0.4,
    validCallRate: 1,
    passAtK: { 1: 0.5, 2: 0.75 },
    metrics: { 'steps/mean': 3 },
    trajectoryIds: [],
  },
];

describe('the metrics of a run, for other tools', () => {
  it('are those of steps, warm start and evaluations, what was done again once', () => {
    const series = metricSeries(events);
    expect(series.get('reward')!.map(({ step: at, value }) => [at, value])).toEqual([
      [1, 0.1],
      [2, 0.25],
    ]);
    expect(series.get('warm_start/loss')![0]).toEqual({ step: 1, time: Date.parse(at), value: 2 });
    expect(series.get('eval_heldout/pass_at_2')![0].value).toBe(0.75);
    expect(series.get('eval_heldout/steps/mean')![0].value).toBe(3);
  });

  it('are a table in CSV, whatever the metrics are called', () => {
    const rows = metricsCsv(metricSeries([step(1, { reward: 0.1 }), step(3, { '=sum(a,"b")': 2 })])).split('\r\n');
    expect(rows).toEqual(['step,reward,"\'=sum(a,""b"")"', '1,0.1,', '3,,2', '']);
  });

  it('are event records that TensorBoard reads: framed, with checksums, in the order of the steps', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    const records = readRecords(tensorboardEvents(metricSeries(events)));
    expect(records[0]).toMatchObject({ fileVersion: 'brain.Event:2' });
    const rewards = records.filter(({ summary }) => summary?.value[0].tag === 'reward');
    expect(rewards.map((record) => [record.step, record.summary!.value[0].simpleValue, record.wallTime])).toEqual([
      [1, Math.fround(0.1), Date.parse(at) / 1000],
      [2, Math.fround(0.25), Date.parse(at) / 1000],
    ]);
    const steps = records.slice(1).map((record) => record.step);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });

  it('are written where they are wanted, and written again', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "whetstone ex'port "));
    try {
      const series = metricSeries(events);
      for (let again = 0; again < 2; again++) {
        const csv = await writeMetrics(series, 'csv', 'r1', folder);
        expect(readFileSync(csv, 'utf8')).toBe(metricsCsv(series));
        const file = await writeMetrics(series, 'tensorboard', 'r1', path.join(folder, 'new', 'logs'));
        expect(path.relative(folder, file)).toBe(path.join('new', 'logs', 'r1', 'events.out.tfevents.0.whetstone'));
        expect(new Uint8Array(readFileSync(file))).toEqual(new Uint8Array(tensorboardEvents(series)));
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

interface EventRecord {
  readonly wallTime: number;
  readonly step: number;
  readonly fileVersion?: string;
  readonly summary?: { readonly value: readonly { readonly tag: string; readonly simpleValue: number }[] };
}

/** By TensorFlow's message definitions. */
function readRecords(bytes: Uint8Array): EventRecord[] {
  const { root } = protobuf.parse(`syntax = "proto3";
    message Value { string tag = 1; float simple_value = 2; }
    message Summary { repeated Value value = 1; }
    message Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }`);
  const Event = root.lookupType('Event');
  const records: EventRecord[] = [];
  const buffer = Buffer.from(bytes);
  for (let offset = 0; offset < buffer.length;) {
    const length = Number(buffer.readBigUInt64LE(offset));
    const masked = (data: Uint8Array) => {
      const crc = crc32c(data);
      return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
    };
    expect(buffer.readUInt32LE(offset + 8)).toBe(masked(buffer.subarray(offset, offset + 8)));
    const data = buffer.subarray(offset + 12, offset + 12 + length);
    expect(buffer.readUInt32LE(offset + 12 + length)).toBe(masked(data));
    records.push(Event.toObject(Event.decode(data), { longs: Number, defaults: false }) as unknown as EventRecord);
    offset += 16 + length;
  }
  return records;
}
