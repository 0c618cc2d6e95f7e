import { badInput } from '../../trajectory/errors.js';
import { say, type Said } from '../../trajectory/said.js';
import { providers, type Provider } from '../graph/provider.js';
import { autoDevice } from './autoDevice.js';
import { DeviceFailure, tryDevice, tryFloat16, type Placement } from './deviceTrial.js';
import type { Precision } from './precision.js';

/** Something of this machine that a policy can, or cannot, be trained on. */
export interface Device {
  readonly name: Provider;
  readonly available: boolean;
  /** Billions of float32 operations a second on matrix products, transfers included; null where unavailable. */
  readonly gflops: number | null;
  /** Billions of bytes of weights a second that decoding gets through; null where unavailable. */
  readonly decodedGigabytes: number | null;
  /** Where the nodes of a step of learning are computed; null where unavailable. */
  readonly placement: Placement | null;
  /** Why it is not available, in one line. */
  readonly reason: string | null;
  /** What to do about that. */
  readonly remedy: string | null;
}

/** Relative to the largest value. TF32, which CUDA may compute in, has ten bits of mantissa. */
const greatestError = 1e-2;

/** As above, in float16: ten bits of mantissa in every product of the way. */
const greatestFloat16Error = 5e-2;

/** Tries every device. */
export async function listDevices(): Promise<Device[]> {
  const devices: Device[] = [];
  for (const name of providers) devices.push(await examine(name));
  return devices;
}

/** The device to train on: what was asked for, or by `auto` the fastest. Throws `bad-input` where it is not available. */
export async function chooseDevice(wanted: 'auto' | Provider): Promise<Provider> {
  if (wanted === 'cpu') return 'cpu';
  if (wanted !== 'auto') {
    const { available, reason, remedy } = await examine(wanted);
    if (available) return wanted;
    throw badInput(
      say`This machine has no device "${wanted}": ${reason ?? ''}.`,
      say`${{ message: remedy ?? '' }} Or use --device cpu.`,
    );
  }
  const others = providers.filter((name) => name !== 'cpu' && platformOf[name]?.supported !== false);
  const found: Device[] = [];
  for (const name of others) found.push(await examine(name));
  // The CPU is measured where there is something to hold against it.
  if (found.every(({ available }) => !available)) return 'cpu';
  return autoDevice([...found, await examine('cpu')]);
}

/** Throws `bad-input` where a device does not compute in this precision, or wrongly. */
export async function checkPrecision(device: Provider, precision: Precision): Promise<void> {
  if (precision === 'float32') return;
  const refuse = (reason: string | Said, cause?: unknown) =>
    badInput(say`The device "${device}" does not learn in ${precision}: ${reason}.`, 'Use --precision float32.', cause);
  const error = await tryFloat16(device).catch((failure: unknown) => {
    throw failure instanceof DeviceFailure ? refuse(failure.message.replace(/\.$/, ''), failure) : failure;
  });
  if (error <= greatestFloat16Error) return;
  throw refuse(say`a step of learning comes out otherwise than on the CPU (relative error ${error.toPrecision(2)})`);
}

const webgpuReachesAll = say`Use --device webgpu, which reaches any graphics processor with a driver.`;

/** Providers that onnxruntime-node has on some platforms only. */
const platformOf: Partial<Record<Provider, { supported: boolean; where: string }>> = {
  cuda: { supported: process.platform === 'linux' && process.arch === 'x64', where: 'Linux on x64' },
  dml: { supported: process.platform === 'win32', where: 'Windows' },
  coreml: { supported: process.platform === 'darwin', where: 'macOS' },
};

const remedyOf: Record<Provider, Said> = {
  cpu: say`Install the packages again (npm ci).`,
  webgpu:
    process.platform === 'linux'
      ? say`Install Vulkan (libvulkan1) and your graphics processor's driver (mesa-vulkan-drivers, or NVIDIA's).`
      : say`Update your graphics processor's driver.`,
  cuda: say`Install CUDA 12 and cuDNN 9, then \`npm install onnxruntime-node --onnxruntime-node-install=cuda12\`; or use --device webgpu, which needs neither.`,
  dml: say`Update Windows and your graphics processor's driver.`,
  coreml: say`Update macOS.`,
};

async function examine(name: Provider): Promise<Device> {
  const unavailable = { name, available: false, gflops: null, decodedGigabytes: null, placement: null };
  const platform = platformOf[name];
  if (platform?.supported === false) {
    const reason = `onnxruntime-node has it on ${platform.where} only`;
    return { ...unavailable, reason, remedy: webgpuReachesAll.message };
  }
  try {
    const { error, ...measured } = await tryDevice(name);
    if (error <= greatestError) {
      return { name, available: true, ...measured, reason: null, remedy: null };
    }
    const reason = `a step of learning comes out otherwise than on the CPU (relative error ${error.toPrecision(2)})`;
    return { ...unavailable, reason, remedy: say`Update its driver.`.message };
  } catch (error) {
    if (!(error instanceof DeviceFailure)) throw error;
    return { ...unavailable, reason: error.message.replace(/\.$/, ''), remedy: remedyOf[name].message };
  }
}
