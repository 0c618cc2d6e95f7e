import protobuf from 'protobufjs';
import type { MetricSeries } from './series.js';

const { Writer } = protobuf;

/**
 * Metrics as the content of a TensorBoard event file: TFRecords of `tensorflow.Event` messages. Field numbers are those of
 * tensorflow/core/util/event.proto and framework/summary.proto: Event { double wall_time = 1; int64 step = 2; string file_version
 * = 3; Summary summary = 5 }, Summary { repeated Value value = 1 }, Value { string tag = 1; float simple_value = 2 }.
 */
export function tensorboardEvents(series: MetricSeries): Uint8Array {
  const points = [...series].flatMap(([name, values]) => values.map((point) => ({ name, ...point })));
  const sorted = points.sort((a, b) => a.step - b.step);
  const started = sorted.reduce((first, { time }) => Math.min(first, time), Infinity);
  const version = Writer.create()
    .uint32(tag(1, doubleType))
    .double(Number.isFinite(started) ? started / 1000 : 0)
    .uint32(tag(3, bytesType))
    .string('brain.Event:2')
    .finish();
  const events = sorted.map(({ name, step, time, value }) => {
    const summaryValue = Writer.create().uint32(tag(1, bytesType)).string(name).uint32(tag(2, floatType)).float(value);
    const summary = Writer.create().uint32(tag(1, bytesType)).bytes(summaryValue.finish());
    return Writer.create()
      .uint32(tag(1, doubleType))
      .double(time / 1000)
      .uint32(tag(2, varintType))
      .int64(step)
      .uint32(tag(5, bytesType))
      .bytes(summary.finish())
      .finish();
  });
  return Buffer.concat([version, ...events].map(tfRecord));
}

const [varintType, doubleType, bytesType, floatType] = [0, 1, 2, 5];
const tag = (field: number, wireType: number) => (field << 3) | wireType;

/** A TFRecord: length (uint64), its masked CRC-32C, the data, its masked CRC-32C; all little-endian. */
function tfRecord(data: Uint8Array): Uint8Array {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(data.length));
  return Buffer.concat([length, checksum(length), data, checksum(data)]);
}

function checksum(data: Uint8Array): Buffer {
  const crc = crc32c(data);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
  return bytes;
}

/** Castagnoli's polynomial, reversed. */
const polynomial = 0x82f63b78;
const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
  return crc;
});

/** CRC-32C (RFC 3720, appendix B.4). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = table[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
