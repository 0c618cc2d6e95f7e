import { describe, expect, it } from 'vitest';
import { RunControl } from './runControl.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Whether the gate has let somebody through by now. */
async function passed(gate: Promise<void>): Promise<boolean> {
  let isThrough = false;
  void gate.then(() => (isThrough = true));
  await turn();
  return isThrough;
}

describe('the gate of a run', () => {
  it('is open but for pauses', async () => {
    const control = new RunControl();
    expect(await passed(control.gate())).toBe(true);
    control.pause();
    const gate = control.gate();
    expect(await passed(gate)).toBe(false);
    control.resume();
    expect(await passed(gate)).toBe(true);
  });

  it('holds nobody who is to stop: neither the run, nor one of those who play for it', async () => {
    const control = new RunControl();
    control.pause();
    const player = new AbortController();
    const [own, others] = [control.gate(player.signal), control.gate()];
    player.abort();
    expect([await passed(own), await passed(others)]).toEqual([true, false]);
    expect(await passed(control.gate(player.signal))).toBe(true);
    control.stop();
    expect(await passed(others)).toBe(true);
  });
});
