/**
 * What the extension takes from the engine, beside types and paths: a bundle of its own (`dist/engine.cjs`), read in
 * once there is a run to look at or a training to start. The checks of every record alone are ten times the size of
 * all that activation needs, so it is only ever imported dynamically.
 */
export { openRepository } from '../env/repo/repository.js';
export { excludeTask, includeTask, readExclusions } from '../env/tasks/excludedTasks.js';
export { alignmentOf } from '../env/reward/similarity.js';
export { changesOfPatch, changesOfTask, startFile } from '../env/tasks/taskChanges.js';
export { readTasks } from '../env/tasks/taskStore.js';
export { measuredDevicesSchema } from '../trainer/estimate/measuredDevices.js';
export { trainingOutlook } from '../trainer/estimate/outlook.js';
export { findCheckpoints, stepOf } from '../trainer/run/checkpoints.js';
export { connectToRun, startTraining } from '../trainer/background/client.js';
export { cleanUpAfterKilled } from '../trainer/background/processRecord.js';
export { loraSchema } from '../trainer/run/learnerSettings.js';
export { openRun } from '../trainer/run/runReader.js';
export { loadRunTokenizer } from '../trainer/run/runTokenizer.js';
export { loadSettings, loadTrainingSettings } from '../trainer/run/settings.js';
export { gradeSchema } from '../trainer/run/trajectoryLine.js';
export { trainLockHolder } from '../trainer/run/trainLockHolder.js';
export { runCli } from './cliProcess.js';
export { evaluatedSchema } from './languageModels/evaluated.js';
export { openModelEndpoint } from './languageModels/modelEndpoint.js';
export { comparedSchema } from './comparison/compared.js';
export { examinationSchema } from './doctor/examination.js';
export { importedRunSchema } from './importedRun.js';
export { runReplay } from './replay/replayProcess.js';
export { openSteppedReplay } from './replay/steppedReplay.js';
export { builtSchema, testedTaskSchema, verificationSchema } from './tasks/taskOutputs.js';
export { openPersonEpisode } from './takeover/personEpisode.js';
export { branchedSchema } from './takeover/branched.js';
export { mapLines, touchedLines } from './tree/touchedLines.js';
