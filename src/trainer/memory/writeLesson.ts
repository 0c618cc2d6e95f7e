import type { Trajectory } from '../../trajectory/trajectory.js';
import type { MessagePlayer, Player } from '../rollout/arena.js';
import { deriveSeed } from '../rollout/seeds.js';
import { asLesson, factsLesson } from './lessons.js';

/** Who writes what is remembered of a failed attempt: a template of facts, or the policy itself out of them (Reflexion). */
export type LessonWriter = 'facts' | 'policy';

const lessonTokens = 100;

/**
 * The lesson of a failed attempt. The policy is asked about the facts in a conversation of its own (Reflexion, arXiv 2303.11366),
 * so nothing of it stands in a trajectory or is learned from; where it says nothing, or plays by messages, the facts are the lesson.
 */
export async function writeLesson(
  player: Player | MessagePlayer,
  trajectory: Trajectory,
  writer: LessonWriter,
  temperature: number,
  signal: AbortSignal,
): Promise<string> {
  const facts = factsLesson(trajectory);
  if (writer === 'facts' || !('codec' in player)) return facts;
  const { generator, codec } = player;
  const task = trajectory.nodes.find(({ message }) => message.role === 'user')?.message;
  const content = [
    'You tried to do this and failed:',
    task?.role === 'user' ? task.content : '',
    facts,
    'Say in one or two sentences, without calling a tool, what to do otherwise the next time.',
  ].join('\n');
  const ids = codec.promptNodes([{ role: 'user', content }], []).flatMap(({ tokenIds }) => [...tokenIds]);
  const room = generator.maxContext - ids.length;
  if (room <= 0) return facts;
  const sessionId = `lesson ${trajectory.id}`;
  try {
    const { tokenIds } = await generator.generate({
      tokenIds: Int32Array.from(ids),
      sessionId,
      maxNewTokens: Math.min(lessonTokens, room),
      stopTokenIds: codec.stopTokenIds,
      temperature,
      topP: 1,
      topK: 0,
      seed: deriveSeed(trajectory.seed, 'lesson'),
      signal,
    });
    return asLesson(codec.parseTurn(tokenIds).content) || facts;
  } finally {
    generator.release(sessionId);
  }
}
