import { randomBytes } from 'node:crypto';
import { infrastructure } from '../../trajectory/errors.js';
import { say } from '../../trajectory/said.js';
import type { RewardComponent } from '../../trajectory/grade.js';
import type { Task } from '../../trajectory/task.js';
import { ChatServer } from '../policies/chatServer.js';
import { deriveSeed } from '../rollout/seeds.js';
import { type JudgeSettings, modelsOf } from '../run/judgeSettings.js';
import { majority, readVerdict, verdictRequest, type JudgedEpisode } from './verdict.js';

/**
 * Scores an episode in [0, 1] by a rubric. Throws `infrastructure` where the server cannot be reached or gives no verdict, so that
 * the episode is left out of its group and nothing false is learned.
 */
export type Judge = (
  episode: JudgedEpisode,
  task: Pick<Task, 'problem_statement'>,
  seed: number,
  signal: AbortSignal,
) => Promise<RewardComponent>;

const requestSeconds = 120;
const mostTokens = 1024;

/** The judge of the settings (requirement R8): an ensemble of votes of its models in turn, question by question; null where there is none. */
export function judgeOf({ url, model, weight, votes, rubric }: JudgeSettings): Judge | null {
  if (url === undefined || model === undefined || weight === 0) return null;
  const apiKey = process.env.OPENAI_API_KEY;
  const servers = modelsOf(model).map(
    (name) => new ChatServer({ url, model: name, requestSeconds, ...(apiKey === undefined ? {} : { apiKey }) }),
  );
  const vote = async (
    server: ChatServer,
    ...[episode, task, seed, signal]: Parameters<Judge>
  ): Promise<(boolean | null)[]> => {
    const code = randomBytes(12).toString('hex');
    const completion = await server.complete(
      {
        messages: verdictRequest(episode, task, rubric, code),
        temperature: votes > 1 ? 0.7 : 0,
        max_tokens: mostTokens,
        seed,
      },
      signal,
    );
    return readVerdict(completion?.choices[0]!.message.content ?? '', rubric.length, code);
  };
  return async (episode, task, seed, signal) => {
    const ballots = await Promise.all(
      Array.from({ length: votes }, (_, index) =>
        vote(servers[index % servers.length]!, episode, task, deriveSeed(seed, 'judge', index), signal),
      ),
    );
    if (ballots.every((answers) => answers.every((answer) => answer === null))) {
      throw infrastructure(say`The judge (${model} at ${url}) gave no verdict.`, 'Let another model judge.');
    }
    const decided = rubric.map((_, question) => majority(ballots.map((answers) => answers[question]!)));
    const yes = rubric.filter((_, question) => decided[question]);
    return {
      score: yes.length / rubric.length,
      weight,
      reason: yes.length === 0 ? 'no to all questions' : `yes to: ${yes.join(' ')}`,
    };
  };
}
