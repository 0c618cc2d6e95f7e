import { tools } from '../../env/tools/tools.js';
import type { AssistantMessage, Message, ToolMessage } from '../../trajectory/message.js';
import type { BranchReason } from '../../trajectory/trajectory.js';
import type { GenerationResult } from '../model/policy.js';
import type { TokenConstraint } from '../text/grammar/tokenConstraint.js';
import type { Player } from './arena.js';
import { askedForSummary, contextLimit, leaveOutObservations, restarted } from './contextWindow.js';
import { beginningOf, notesOf, type Dialogue, type Opening } from './dialogue.js';
import { constraintBehind, forcedTool } from './forcedTool.js';
import { type NodePath, observationNodes } from './nodes.js';
import { deriveSeed } from './seeds.js';

/**
 * An episode played by token ids: the next prompt is what is stored, the template's glue and the observations' ids. Where the
 * template would now render the history otherwise, or older observations have to go, a new branch starts from the history
 * as it is shown from then on.
 */
export class TokenDialogue implements Dialogue {
  readonly path: NodePath;
  private readonly prompt: readonly Message[];
  /** The conversation as the policy sees it at present. */
  private messages: Message[];
  private turn: number;
  private last: { readonly sampledIds: Int32Array; readonly message: AssistantMessage } | null = null;

  constructor(
    private readonly player: Player,
    private readonly opening: Opening,
  ) {
    const beginning = beginningOf(opening, () => player.codec.promptNodes(opening.prompt, opening.tools));
    ({ path: this.path, prompt: this.prompt, messages: this.messages, turns: this.turn } = beginning);
  }

  async next(signal: AbortSignal): Promise<AssistantMessage | null> {
    const { path, opening } = this;
    const { generator, codec } = this.player;
    this.branchWhereRewritten();
    this.leaveOutOldest();
    await this.restartFromSummary(signal);
    const room = generator.maxContext - path.tokens;
    if (room <= 0) return null;
    const seed = deriveSeed(opening.plan.seed, this.turn++);
    const forced = this.forcedOpening(seed, room);
    const result = await this.sample(room, seed, signal, this.constraint(), forced);
    const sampledIds = forced === undefined ? result.tokenIds : Int32Array.of(...forced, ...result.tokenIds);
    const message = codec.parseTurn(sampledIds, opening.tools);
    path.addSampled(message, result, forced);
    this.messages.push(message);
    this.last = { sampledIds, message };
    // The turn was cut by the end of the context: it is not whole, and there is no room for an answer to it.
    return path.tokens >= generator.maxContext ? null : message;
  }

  observe(observations: readonly ToolMessage[]): void {
    if (this.last === null) throw new Error('internal: an observation before any turn');
    for (const node of observationNodes(this.player.codec, this.last, observations))
      this.path.addGiven(node.message, node.tokenIds);
    this.messages.push(...observations);
  }

  end(): void {
    this.player.generator.release(this.opening.plan.id);
  }

  /** Of a turn; a summary is free. */
  private constraint(): TokenConstraint | undefined {
    if (this.opening.options.constrainedCalls !== true) return undefined;
    const names = new Set(this.opening.tools.map((tool) => tool.function.name));
    return this.player.codec.callConstraint(
      tools
        .filter(({ name }) => names.has(name))
        .map(({ name, argumentsSchema }) => ({ name, parameters: argumentsSchema })),
    );
  }

  /** Ids that the turn is made to begin with; undefined where it is not, or where nothing could follow them. */
  private forcedOpening(seed: number, room: number): Int32Array | undefined {
    const { plan, tools, options } = this.opening;
    const tool = forcedTool(seed, plan.toolEpsilon ?? 0, tools);
    if (tool === null) return undefined;
    const forced = this.player.codec.callOpening(tool, this.path.tokenIds());
    return forced.length < Math.min(options.maxTokensPerTurn, room) ? forced : undefined;
  }

  /** @param forced ids that the turn begins with; they take their part of its length */
  private sample(
    room: number,
    seed: number,
    signal: AbortSignal,
    constraint?: TokenConstraint,
    forced: Int32Array = new Int32Array(0),
  ): Promise<GenerationResult> {
    const { plan, options } = this.opening;
    const { generator, codec } = this.player;
    const { temperature, topP, topK, minP, maxTokensPerTurn } = options;
    return generator.generate({
      tokenIds: forced.length === 0 ? this.path.tokenIds() : Int32Array.of(...this.path.tokenIds(), ...forced),
      sessionId: plan.id,
      maxNewTokens: Math.min(maxTokensPerTurn, room) - forced.length,
      stopTokenIds: codec.stopTokenIds,
      ...this.stopStrings(),
      temperature,
      topP,
      topK,
      minP,
      seed,
      signal,
      ...(constraint && { constraint: forced.length === 0 ? constraint : constraintBehind(constraint, forced) }),
    });
  }

  private branchWhereRewritten(): void {
    if (this.turn === 0) return;
    const kept = this.player.codec.keepsHistory(this.messages, this.opening.tools, this.path.tokenIds());
    if (kept === false) this.startBranch('template');
  }

  private isFull(): boolean {
    const { maxContext } = this.player.generator;
    return this.path.tokens > contextLimit(this.path.nodes, maxContext, this.opening.options);
  }

  private leaveOutOldest(): void {
    const { keptObservations } = this.opening.options;
    if (keptObservations === 0 || !this.isFull()) return;
    const shorter = leaveOutObservations(this.messages, keptObservations);
    if (shorter === null) return;
    this.messages = shorter;
    this.startBranch('window');
  }

  /**
   * Where the context is full, asks for a summary of the progress: sampled like a turn, which no tool sees. What comes then
   * begins with the prompt and that summary.
   */
  private async restartFromSummary(signal: AbortSignal): Promise<void> {
    const { plan, options } = this.opening;
    if (!options.contextSummary || !this.isFull()) return;
    const asked = askedForSummary(this.messages);
    if (asked === null) return;
    const { generator, codec } = this.player;
    this.messages = asked;
    this.startBranch('summary');
    const room = generator.maxContext - this.path.tokens;
    // Nothing can be asked any more: the turn finds no room either.
    if (room <= 0) return;
    const result = await this.sample(room, deriveSeed(plan.seed, 'summary', this.turn), signal);
    const { raw, content } = codec.parseTurn(result.tokenIds);
    const message: AssistantMessage = { role: 'assistant', content, toolCalls: [], aside: 'summary', raw };
    this.path.addSampled(message, result);
    this.messages = restarted(this.prompt, notesOf(message));
    this.startBranch('summary');
  }

  /** The template's own rendering of the conversation goes on in place of what is stored. */
  private startBranch(reason: BranchReason): void {
    const { codec } = this.player;
    const nodes = codec.promptNodes(this.messages, this.opening.tools);
    const ids = Int32Array.from(nodes.flatMap(({ tokenIds }) => [...tokenIds]));
    this.path.startBranch(reason, ids, (rest) => codec.decode(rest));
  }

  private stopStrings(): { stops?: (tokenIds: readonly number[]) => boolean } {
    const { codec } = this.player;
    const strings = [...codec.toolFormat.stopStrings, ...this.opening.options.stopStrings];
    if (strings.length === 0) return {};
    // A token holds at least one byte, so the end of the text is in as many last tokens.
    const tail = Math.max(...strings.map((string) => Buffer.byteLength(string))) + 4;
    return {
      stops: (tokenIds) => {
        const text = codec.decode(tokenIds.slice(-tail));
        return strings.some((string) => text.includes(string));
      },
    };
  }
}
