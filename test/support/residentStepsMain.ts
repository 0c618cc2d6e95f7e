import { DeviceTensors } from '../../src/trainer/model/deviceTensors.js';
import { InferenceSession, Tensor } from '../../src/trainer/model/onnxRuntime.js';
import { goldenNames } from './goldenModels.js';
import { residentSteps, type ResidentStep, type StepObserver } from './residentSteps.js';

type Event = Parameters<StepObserver['after']>[0];

/** What was done with the device up to an event, since the one before. */
export interface DeviceWork {
  readonly event: Event;
  /** Tensors that were put on the device, overwritten there and freed. */
  readonly put: number;
  readonly rewritten: number;
  readonly freed: number;
  /** Runs of learner and generator, and how many parameters they were fed from the CPU. */
  readonly runs: number;
  readonly fedParameters: number;
}

export interface ObservedSteps {
  readonly steps: readonly ResidentStep[];
  readonly work: readonly DeviceWork[];
}

/** Counts what reaches onnxruntime, whatever the code above it says. */
function observed(): { observer: StepObserver; work: DeviceWork[] } {
  const nothing = { put: 0, rewritten: 0, freed: 0, runs: 0, fedParameters: 0 };
  let counts = { ...nothing };
  const work: DeviceWork[] = [];
  const resident = new Set<Tensor>();
  const { put, rewrite } = DeviceTensors.prototype;
  DeviceTensors.prototype.put = async function (tensor) {
    const kept = await put.call(this, tensor);
    counts.put++;
    resident.add(kept);
    return kept;
  };
  DeviceTensors.prototype.rewrite = async function (kept, tensor) {
    if (!resident.has(kept)) throw new Error('What is overwritten was not put there.');
    counts.rewritten++;
    return rewrite.call(this, kept, tensor);
  };
  const tensors = Tensor.prototype as { dispose(): void };
  const dispose = tensors.dispose;
  tensors.dispose = function (this: Tensor) {
    if (resident.delete(this)) counts.freed++;
    dispose.call(this);
  };
  const create = InferenceSession.create.bind(InferenceSession) as (...args: unknown[]) => Promise<InferenceSession>;
  (InferenceSession as { create: unknown }).create = async (...args: unknown[]) => {
    const session = await create(...args);
    const run = session.run.bind(session) as (
      feeds: Record<string, Tensor>,
      ...rest: unknown[]
    ) => ReturnType<typeof session.run>;
    (session as { run: unknown }).run = (feeds: Record<string, Tensor>, ...rest: unknown[]) => {
      if (!('given' in feeds)) {
        const fed = session.inputNames.filter((name) => /^(model|lm_head|value_head|rotary)\./.test(name));
        if (fed.length === 0) throw new Error('A run without parameters.');
        counts.runs++;
        counts.fedParameters += fed.filter((name) => feeds[name]?.location === 'cpu').length;
      }
      return run(feeds, ...rest);
    };
    return session;
  };
  const after = (event: Event) => {
    work.push({ event, ...counts });
    counts = { ...nothing };
  };
  return { observer: { after }, work };
}

/** As a program: MODEL DEVICE UPDATES. Writes `ObservedSteps` as JSON to standard output. */
async function main(name: string, device: string, updates: string): Promise<void> {
  const known = goldenNames.find((each) => each === name);
  if (!known || (device !== 'cpu' && device !== 'webgpu')) throw new Error(`usage: MODEL cpu|webgpu UPDATES`);
  const { observer, work } = observed();
  const steps = await residentSteps(known, device, Number(updates), observer);
  process.stdout.write(JSON.stringify({ steps, work } satisfies ObservedSteps));
}

void main(process.argv[2], process.argv[3], process.argv[4]).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
});
