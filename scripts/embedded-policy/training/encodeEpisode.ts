import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AssistantMessage } from '../../../src/trajectory/message.js';
import type { TextCodec } from '../../../src/trainer/text/textCodec.js';
import { toolSchemas } from '../../../src/env/tools/tools.js';
import type { ExpertEpisode } from '../episodes/episode.js';

/** What a token is, for its weight in the loss. */
export const TokenKind = { context: 0, turn: 1, edit: 2, mistake: 3 } as const;

/** An episode's tokens as the policy would meet them. All arrays: [time]. */
export interface EncodedEpisode {
  readonly tokenIds: Int32Array;
  readonly kinds: Uint8Array;
  readonly operator: string;
}

/** The ids that the rollout would lay end to end: the opening, then each turn and what the tools answered. */
export function encodeEpisode(codec: TextCodec, episode: ExpertEpisode): EncodedEpisode {
  const ids: number[] = [];
  const kinds: number[] = [];
  const add = (tokens: ArrayLike<number>, kind: number) => {
    for (let i = 0; i < tokens.length; i += 1) {
      ids.push(tokens[i]!);
      kinds.push(kind);
    }
  };
  const opening = codec.promptNodes(
    [
      { role: 'system', content: episode.system },
      { role: 'user', content: episode.user },
    ],
    toolSchemas,
  );
  for (const { tokenIds } of opening) add(tokenIds, TokenKind.context);
  episode.turns.forEach((turn, index) => {
    const sampledIds = codec.encodeTurn(turn.raw);
    const edits = turn.raw.includes('{"name": "choose"');
    add(sampledIds, turn.train ? (edits ? TokenKind.edit : TokenKind.turn) : TokenKind.mistake);
    // Nothing follows the last turn: the episode has ended.
    if (index === episode.turns.length - 1) return;
    const message: AssistantMessage = codec.parseTurn(sampledIds);
    const answers = turn.observations.map((observation, i) => ({
      role: 'tool' as const,
      toolCallId: message.toolCalls[i]?.id ?? `call-${i}`,
      ...observation,
    }));
    add(codec.observation({ sampledIds, message }, answers), TokenKind.context);
  });
  return { tokenIds: Int32Array.from(ids), kinds: Uint8Array.from(kinds), operator: episode.operator };
}

/** Encoded episodes kept in a file, since encoding takes longer than reading. */
export async function encodedOnDisk(
  file: string,
  encode: () => Promise<readonly EncodedEpisode[]>,
): Promise<readonly EncodedEpisode[]> {
  if (!existsSync(file)) {
    const plain = (await encode()).map(({ tokenIds, kinds, operator }) => [[...tokenIds], [...kinds], operator]);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.tmp`, JSON.stringify(plain));
    await rename(`${file}.tmp`, file);
  }
  const rows = JSON.parse(await readFile(file, 'utf8')) as [number[], number[], string][];
  return rows.map(([tokenIds, kinds, operator]) => ({
    tokenIds: Int32Array.from(tokenIds),
    kinds: Uint8Array.from(kinds),
    operator,
  }));
}
