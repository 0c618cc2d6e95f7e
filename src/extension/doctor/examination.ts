import { z } from 'zod';
import { findingSchema } from '../../trainer/doctor/finding.js';

/** What `whetstone doctor --json` prints, as far as it is read here. */
export const examinationSchema = z.looseObject({ findings: z.array(findingSchema) });
