// Every name that package.json's `contributes` and the code share; a test compares the two.

/** Commands of the views beside those of training and replay. */
export const ViewCommand = {
  ExamineRun: 'whetstone.examineRun',
  CompareCheckpoints: 'whetstone.compareCheckpoints',
  OpenEvidence: 'whetstone.openEvidence',
  OpenRemedySetting: 'whetstone.openRemedySetting',
  FilterRuns: 'whetstone.filterRuns',
  SortRuns: 'whetstone.sortRuns',
  ClearRunFilter: 'whetstone.clearRunFilter',
  ShowDashboard: 'whetstone.showDashboard',
  ShowReward: 'whetstone.showReward',
  ShowTree: 'whetstone.showTree',
  ShowTouchedLines: 'whetstone.showTouchedLines',
  HideTouchedLines: 'whetstone.hideTouchedLines',
  BuildTasks: 'whetstone.buildTasks',
  OpenStatement: 'whetstone.openStatement',
  OpenOracle: 'whetstone.openOracle',
  OpenStartPatch: 'whetstone.openStartPatch',
  VerifyTask: 'whetstone.verifyTask',
  FilterTasks: 'whetstone.filterTasks',
  ClearTaskFilter: 'whetstone.clearTaskFilter',
} as const;
export type ViewCommand = (typeof ViewCommand)[keyof typeof ViewCommand];

/** Commands that do something with tasks beside showing them. */
export const TaskCommand = {
  RunTests: 'whetstone.runTaskTests',
  Exclude: 'whetstone.excludeTask',
  Include: 'whetstone.includeTask',
  Sort: 'whetstone.sortTasks',
} as const;
export type TaskCommand = (typeof TaskCommand)[keyof typeof TaskCommand];

/** Commands in which somebody else than a trained policy plays, or a policy otherwise than it was recorded. */
export const PlayCommand = {
  TakeOver: 'whetstone.takeOver',
  BranchHere: 'whetstone.branchHere',
  BranchWithModel: 'whetstone.branchWithModel',
  EvaluateWithModel: 'whetstone.evaluateWithModel',
  UseText: 'whetstone.useText',
} as const;
export type PlayCommand = (typeof PlayCommand)[keyof typeof PlayCommand];

/** Commands of replays as debug sessions. */
export const DebugCommand = {
  StepThrough: 'whetstone.stepThrough',
  CompareWithStart: 'whetstone.compareWithStart',
  CompareWithPrevious: 'whetstone.compareWithPrevious',
  CompareWithOracle: 'whetstone.compareWithOracle',
} as const;
export type DebugCommand = (typeof DebugCommand)[keyof typeof DebugCommand];

export const Command = {
  ...ViewCommand,
  ...DebugCommand,
  ...TaskCommand,
  ...PlayCommand,
  Train: 'whetstone.train',
  TrainWith: 'whetstone.trainWith',
  Stop: 'whetstone.stop',
  Pause: 'whetstone.pause',
  Resume: 'whetstone.resume',
  RefreshRuns: 'whetstone.refreshRuns',
  OpenTrajectory: 'whetstone.openTrajectory',
  OpenTrajectoryFile: 'whetstone.openTrajectoryFile',
  Replay: 'whetstone.replay',
  ReplayToTurn: 'whetstone.replayToTurn',
  ShowLog: 'whetstone.showLog',
  ChooseTokenColours: 'whetstone.chooseTokenColours',
} as const;
export type Command = (typeof Command)[keyof typeof Command];

export const View = {
  Runs: 'whetstone.runs',
  Tasks: 'whetstone.tasks',
  Doctor: 'whetstone.doctor',
  ReplayFiles: 'whetstone.replayFiles',
} as const;
export type View = (typeof View)[keyof typeof View];

export const ContextKey = {
  /** A run's process lives. */
  Training: 'whetstone.training',
  /** A run can be resumed: it is paused, stopped or interrupted. */
  Resumable: 'whetstone.resumable',
  HasRuns: 'whetstone.hasRuns',
  /** The view of runs does not show every trajectory. */
  RunsFiltered: 'whetstone.runsFiltered',
  HasTasks: 'whetstone.hasTasks',
  /** Lines that rollouts touched are marked in the source. */
  TouchedLines: 'whetstone.touchedLines',
  /** Some task is left out of training and evaluation. */
  HasExcludedTasks: 'whetstone.hasExcludedTasks',
  /** The view of tasks does not show all of them. */
  TasksFiltered: 'whetstone.tasksFiltered',
  /** A text of several lines is being written for a box. */
  WritingText: 'whetstone.writingText',
  /** The active editor shows a trajectory. */
  TrajectoryOpen: 'whetstone.trajectoryOpen',
} as const;
export type ContextKey = (typeof ContextKey)[keyof typeof ContextKey];

/** Settings, by the names of the engine's own. */
export const settingNames = [
  'model',
  'device',
  'hubEndpoint',
  'sandbox',
  'workers',
  'judge',
  'steps',
  'groupSize',
  'tasksPerStep',
  'learningRate',
] as const;
export type SettingName = (typeof settingNames)[number];
export const settingsSection = 'whetstone';

export const Scheme = {
  Trajectory: 'whetstone-trajectory',
  Replay: 'whetstone-replay',
  ReplayFile: 'whetstone-replay-file',
  Task: 'whetstone-task',
  Episode: 'whetstone-episode',
  Comparison: 'whetstone-comparison',
} as const;

/** Kinds of webview panels. */
export const PanelType = {
  Dashboard: 'whetstone.dashboard',
  Reward: 'whetstone.reward',
  Tree: 'whetstone.tree',
} as const;
export type PanelType = (typeof PanelType)[keyof typeof PanelType];

export const Colour = {
  PromptToken: 'whetstone.promptToken',
  AgentToken: 'whetstone.agentTokenBackground',
  ObservationToken: 'whetstone.observationTokenBackground',
  Header: 'whetstone.trajectoryHeader',
  PositiveWeak: 'whetstone.positiveWeakTokenBackground',
  PositiveMedium: 'whetstone.positiveMediumTokenBackground',
  PositiveStrong: 'whetstone.positiveStrongTokenBackground',
  NegativeWeak: 'whetstone.negativeWeakTokenBackground',
  NegativeMedium: 'whetstone.negativeMediumTokenBackground',
  NegativeStrong: 'whetstone.negativeStrongTokenBackground',
  AmountWeak: 'whetstone.amountWeakTokenBackground',
  AmountMedium: 'whetstone.amountMediumTokenBackground',
  AmountStrong: 'whetstone.amountStrongTokenBackground',
} as const;
