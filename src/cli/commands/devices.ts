import { listDevices } from '../../trainer/model/devices.js';
import type { Placement } from '../../trainer/model/deviceTrial.js';
import { jsonOption, type AddCommand } from '../options.js';
import { print, printJson, table } from '../output.js';

export const addDevicesCommand: AddCommand = (program) => {
  program
    .command('devices')
    .description('what this machine can train on, measured')
    .addOption(jsonOption())
    .action(devices);
};

async function devices(options: { json?: boolean }): Promise<void> {
  const found = await listDevices();
  if (options.json) return printJson({ devices: found });
  print(
    table(
      ['device', 'available', 'GFLOP/s', 'GB/s decoded', 'note'],
      found.map(({ name, available, gflops, decodedGigabytes, placement, reason, remedy }) => [
        name,
        available ? 'yes' : 'no',
        gflops === null ? '-' : gflops.toFixed(0),
        decodedGigabytes === null ? '-' : decodedGigabytes.toFixed(1),
        placement === null ? `${reason}. ${remedy}` : name === 'cpu' ? '' : placementLine(placement),
      ]),
    ),
  );
}

/** How many nodes of a step of learning fall off the device, and why. */
function placementLine({ onDevice, shapes, fallen }: Placement): string {
  const operators = Object.entries(fallen).map(([operator, count]) => `${count} ${operator}`);
  const lost =
    operators.length === 0 ? 'none falls off it' : `not taken by its provider: ${operators.sort().join(', ')}`;
  return `a step of learning: ${onDevice} nodes on the device, ${lost}; ${shapes} that only compute shapes stay on the CPU`;
}
