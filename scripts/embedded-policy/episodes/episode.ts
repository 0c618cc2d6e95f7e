/** One assistant turn of an expert's episode, as text, with what the tools answered. */
export interface EpisodeTurn {
  /** As the policy would sample it, without the stop token. */
  readonly raw: string;
  /** False for a mistake that the policy shall see but not learn. */
  readonly train: boolean;
  readonly observations: readonly { readonly name: string; readonly content: string }[];
}

/** A whole expert's episode, before it becomes tokens. */
export interface ExpertEpisode {
  readonly language: string;
  readonly operator: string;
  readonly system: string;
  readonly user: string;
  readonly turns: readonly EpisodeTurn[];
}
