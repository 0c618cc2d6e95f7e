import type { Provider } from '../graph/provider.js';

/** A graphics processor must be this much faster than the CPU: with small models its launches cost more than it saves. */
const worthwhileSpeedup = 2;

/** What `auto` takes: the fastest device, unless the CPU is nearly as fast. */
export function autoDevice(devices: readonly { readonly name: Provider; readonly gflops: number | null }[]): Provider {
  const speedOf = (name: Provider) => devices.find((device) => device.name === name)?.gflops ?? 0;
  const others = devices.filter(({ name, gflops }) => name !== 'cpu' && gflops !== null);
  const fastest = others.sort((a, b) => b.gflops! - a.gflops!).at(0);
  return fastest && fastest.gflops! > worthwhileSpeedup * speedOf('cpu') ? fastest.name : 'cpu';
}
