import type { BugOperator } from '../operator.js';
import { argumentSwap } from './argumentSwap.js';
import { arithmeticSwap, operandSwap } from './arithmetic.js';
import { assignmentSwap } from './assignment.js';
import { awaitRemoval } from './awaitRemoval.js';
import { branchSwap } from './branchSwap.js';
import { callSwap } from './callSwap.js';
import { boundary, comparisonFlip } from './comparison.js';
import { constantChange } from './constantChange.js';
import { errorCheckRemoval } from './errorCheck.js';
import { exceptionSwap } from './exceptionSwap.js';
import { indexChange } from './indexChange.js';
import { clauseRemoval, logicSwap, negation } from './logic.js';
import { loopBound } from './loopBound.js';
import { earlyReturn, loopControlSwap } from './loops.js';
import { nullGuardRemoval } from './nullGuard.js';
import { caseRemoval, conditionRemoval, guardRemoval, statementRemoval } from './removal.js';
import { returnValue } from './returnValue.js';
import { stringChange } from './stringChange.js';
import { wrongVariable } from './wrongVariable.js';

/** Every operator, in the order of their names in the documentation. */
export const OPERATORS: readonly BugOperator[] = [
  comparisonFlip,
  boundary,
  arithmeticSwap,
  assignmentSwap,
  negation,
  logicSwap,
  clauseRemoval,
  constantChange,
  stringChange,
  operandSwap,
  argumentSwap,
  wrongVariable,
  callSwap,
  indexChange,
  loopBound,
  loopControlSwap,
  earlyReturn,
  returnValue,
  branchSwap,
  statementRemoval,
  guardRemoval,
  conditionRemoval,
  caseRemoval,
  nullGuardRemoval,
  errorCheckRemoval,
  exceptionSwap,
  awaitRemoval,
];
