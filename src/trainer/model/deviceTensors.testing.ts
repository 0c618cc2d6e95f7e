import { infrastructure } from '../../trajectory/errors.js';
import type { DeviceTensors } from './deviceTensors.js';
import { Tensor } from './onnxRuntime.js';

/** A device in the CPU's memory: what is put there is a copy. It can be told to fail. */
export class CopiedTensors implements Pick<DeviceTensors, 'put' | 'rewrite' | 'release'> {
  readonly kept = new Set<Tensor>();
  rewritten = 0;
  released = false;
  /** How many more tensors it takes. */
  room = Infinity;

  async put(tensor: Tensor): Promise<Tensor> {
    await this.take();
    const copy = new Tensor('float32', (tensor.data as Float32Array).slice(), tensor.dims);
    const free = copy.dispose.bind(copy);
    copy.dispose = () => {
      this.kept.delete(copy);
      free();
    };
    this.kept.add(copy);
    return copy;
  }

  async rewrite(resident: Tensor, tensor: Tensor): Promise<void> {
    // As on a device, what is there when the run begins is taken.
    await this.take();
    (resident.data as Float32Array).set(tensor.data as Float32Array);
    this.rewritten++;
  }

  release(): Promise<void> {
    this.released = true;
    return Promise.resolve();
  }

  private async take(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.room === 0) throw infrastructure('The device is full.', 'Free memory.');
    this.room--;
  }
}
