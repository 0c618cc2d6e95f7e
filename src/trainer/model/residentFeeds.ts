import type { DeviceTensors } from './deviceTensors.js';
import type { Tensor } from './onnxRuntime.js';

/**
 * Feeds that stay the same from run to run (`weightFeeds`) and lie on a device, where every run would otherwise bring them anew. Those
 * that are trained change here, on the CPU: `current` brings them there once after each change, in place, so that the sessions of
 * learner and generator go on with the same tensors.
 */
export class ResidentFeeds {
  /** On the device; to be fed after `current` has resolved. */
  readonly feeds: Record<string, Tensor>;
  private readonly trained = new Map<string, Tensor>();
  /** What lay on the device before is not ours to free. */
  private readonly placed: Tensor[] = [];
  private isStale = false;
  private renewed: Promise<void> = Promise.resolve();

  private constructor(
    feeds: Readonly<Record<string, Tensor>>,
    private readonly device: Pick<DeviceTensors, 'put' | 'rewrite' | 'release'>,
  ) {
    this.feeds = { ...feeds };
  }

  /**
   * @param feeds where they are kept here, in arrays that training changes in place; some may lie on the device already
   * @param trained names of those that change
   * @param device released with the feeds
   */
  static async create(
    feeds: Readonly<Record<string, Tensor>>,
    trained: ReadonlySet<string>,
    device: Pick<DeviceTensors, 'put' | 'rewrite' | 'release'>,
  ): Promise<ResidentFeeds> {
    const resident = new ResidentFeeds(feeds, device);
    try {
      for (const [name, tensor] of Object.entries(feeds)) {
        if (tensor.location === 'cpu') await resident.place(name, tensor, trained.has(name));
      }
      return resident;
    } catch (error) {
      await resident.dispose();
      throw error;
    }
  }

  /** To be called when what is trained has changed. */
  changed(): void {
    this.isStale = true;
  }

  /** Resolves when the feeds are what is kept here: to be awaited before every run. Where it fails, the next call tries again. */
  current(): Promise<void> {
    if (this.isStale) {
      this.isStale = false;
      this.renewed = this.renewed.catch(() => undefined).then(() => this.renew());
    }
    return this.renewed;
  }

  /** Frees what was put on the device; no session may be fed it any more. */
  async dispose(): Promise<void> {
    await this.renewed.catch(() => undefined);
    for (const tensor of this.placed.splice(0)) tensor.dispose();
    // What it put on the device is its own to the end.
    await this.device.release();
  }

  private async place(name: string, tensor: Tensor, isTrained: boolean): Promise<void> {
    const placed = await this.device.put(tensor);
    this.feeds[name] = placed;
    this.placed.push(placed);
    if (isTrained) this.trained.set(name, tensor);
  }

  private async renew(): Promise<void> {
    try {
      for (const [name, tensor] of this.trained) await this.device.rewrite(this.feeds[name]!, tensor);
    } catch (error) {
      this.isStale = true;
      throw error;
    }
  }
}
