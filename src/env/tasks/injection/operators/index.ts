import type { BugOperator } from '../operator.js';
import { argumentSwap } from './argumentSwap.js';
import { arithmeticSwap, operandSwap } from './arithmetic.js';
import { callSwap } from './callSwap.js';
import { boundary, comparisonFlip } from './comparison.js';
import { constantChange } from './constantChange.js';
import { indexChange } from './indexChange.js';
import { clauseRemoval, logicSwap, negation } from './logic.js';
import { earlyReturn, loopControlSwap } from './loops.js';
import { nullGuardRemoval } from './nullGuard.js';
import { conditionRemoval, statementRemoval } from './removal.js';
import { returnValue } from './returnValue.js';

/** Every operator, in the order of their names in the documentation. */
export const OPERATORS: readonly BugOperator[] = [
  comparisonFlip,
  boundary,
  arithmeticSwap,
  negation,
  logicSwap,
  constantChange,
  operandSwap,
  argumentSwap,
  returnValue,
  statementRemoval,
  conditionRemoval,
  clauseRemoval,
  nullGuardRemoval,
  indexChange,
  earlyReturn,
  loopControlSwap,
  callSwap,
];
