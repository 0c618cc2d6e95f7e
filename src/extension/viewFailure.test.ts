import { expect, it } from 'vitest';
import { badInput } from '../trajectory/errors.js';
import { throwPlainly } from './viewFailure.js';

it('what a view cannot show is told in one line with its remedy, and makes no link', async () => {
  const error = badInput('[quit](command:workbench.action.quit)\nis broken.', 'Restore it.');
  await expect(Promise.reject(error).catch(throwPlainly)).rejects.toThrow(
    /^Whetstone: \[quit\] \(command:workbench\.action\.quit\) is broken\. Restore it\.$/,
  );
});
