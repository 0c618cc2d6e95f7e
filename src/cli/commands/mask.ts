import { stalenessOf } from '../../trainer/learnUpdate.js';
import { loadRunTokenizer } from '../../trainer/run/runTokenizer.js';
import { embeddedModelFolder } from '../../trainer/model/checkpoint.js';
import { openRun } from '../../trainer/run/runReader.js';
import { shownAnew } from '../../trajectory/shownAnew.js';
import { historyLines } from '../historyLines.js';
import { jsonOption, locateState, repoOption, type AddCommand, type RepoOptions } from '../options.js';
import { print, printable, printJson } from '../output.js';

export const addMaskCommand: AddCommand = (program) => {
  program
    .command('mask <run> <trajectory>')
    .description('the tokens of a trajectory with mask, log-probability and advantage')
    .addOption(repoOption())
    .addOption(jsonOption())
    .action(mask);
};

async function mask(runId: string, trajectoryId: string, options: RepoOptions): Promise<void> {
  const { stateFolder } = await locateState(options);
  const run = openRun(stateFolder, runId);
  const [trajectory, learned, tokenizer] = [
    await run.trajectory(trajectoryId),
    await run.learned(trajectoryId),
    await loadRunTokenizer(run, embeddedModelFolder),
  ];
  const finite = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value);
  // Nobody sampled a demonstration: no weights were older.
  const learnedIn = trajectory.kind === 'demonstration' ? undefined : learned?.step;
  let position = 0;
  const tokens = trajectory.nodes.flatMap((node, nodeIndex) => {
    const texts = tokenizer.tokenTexts(node.tokenIds);
    return Array.from(node.tokenIds, (id, index) => {
      const at = position++;
      return {
        id,
        text: texts[index],
        mask: node.actionMask[index],
        ...(index < (node.forced ?? 0) ? { forced: true } : {}),
        node: nodeIndex,
        role: node.message.role,
        logprob: finite(node.logprobs[index]),
        entropy: finite(node.entropies[index]),
        advantage: finite(learned?.advantages[at]),
        learner_logprob: finite(learned?.learnerLogprobs[at]),
        reference_logprob: finite(learned?.referenceLogprobs[at]),
        coefficient: finite(learned?.coefficients[at]),
        staleness: learnedIn === undefined || node.actionMask[index] === 0 ? null : stalenessOf(trajectory, learnedIn),
      };
    });
  });
  const history = shownAnew(trajectory.nodes);
  if (options.json) {
    const { id, taskId: task, grade } = trajectory;
    return printJson({ id, task, reward: grade?.reward ?? null, history, tokens });
  }
  // The policy's own tokens between these marks; everything else is prompt, observation or glue, or was forced on it.
  const forced = tokens.filter((token) => token.forced).length;
  const ofForced = forced === 0 ? '' : `; ${forced} more begin turns whose tool exploration forced, so their mask is 0`;
  print(
    `${trajectory.id}: ${tokens.length} tokens, ${tokens.filter((token) => token.mask === 1).length} of them sampled, marked \u00ab \u00bb${ofForced}`,
  );
  for (const line of historyLines(history)) print(line);
  let inside = 0;
  let text = '';
  for (const token of tokens) {
    if (token.mask !== inside) text += token.mask === 1 ? '\u00ab' : '\u00bb';
    inside = token.mask;
    text += token.text;
  }
  print(printable(inside === 1 ? `${text}\u00bb` : text));
}
