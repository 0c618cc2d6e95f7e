import { z } from 'zod';
import { providers } from '../graph/provider.js';

/** What `whetstone devices --json` prints, as far as an estimate needs it. */
export const measuredDevicesSchema = z.object({
  devices: z.array(
    z.looseObject({
      name: z.enum(providers),
      gflops: z.number().nullable(),
      decodedGigabytes: z.number().nullable(),
    }),
  ),
});
