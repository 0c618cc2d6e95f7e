import { listDevices } from '../../trainer/model/devices.js';
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
      ['device', 'available', 'GFLOP/s', 'note'],
      found.map(({ name, available, gflops, reason }) => [
        name,
        available ? 'yes' : 'no',
        gflops === null ? '-' : gflops.toFixed(0),
        reason ?? '',
      ]),
    ),
  );
}
