import type { DebugProtocol } from '@vscode/debugprotocol';
import { t } from '../translate.js';
import type { Value } from './values.js';

/** Hands out references to values. The same frame, and the same value in it, has the same reference at every visit. */
export class VariableStore {
  private readonly scopesOf = new Map<string, readonly Value[]>();
  private readonly references = new Map<Value, number>();
  private readonly values: Value[] = [];

  scopes(frame: string, make: () => readonly Value[]): DebugProtocol.Scope[] {
    return this.of(frame, make).map((scope) => ({
      name: scope.name,
      variablesReference: this.referenceOf(scope, true),
      namedVariables: scope.children.length,
      expensive: false,
    }));
  }

  variables(reference: number, start = 0, count?: number): DebugProtocol.Variable[] {
    const value = this.values.at(reference < 1 ? Infinity : reference - 1);
    if (!value) throw new Error(t('This value is not known any more.'));
    return value.children.slice(start, count ? start + count : undefined).map((child) => ({
      name: child.name,
      value: child.value,
      evaluateName: `${value.name}.${child.name}`,
      variablesReference: this.referenceOf(child),
    }));
  }

  /** The first value of a frame whose path of names ends like the expression does. */
  find(frame: string, make: () => readonly Value[], expression: string) {
    const wanted = `.${expression.trim().toLowerCase()}`;
    const search = (values: readonly Value[], above: string): Value | undefined => {
      for (const value of values) {
        const path = `${above}.${value.name.toLowerCase()}`;
        const found = path.endsWith(wanted) ? value : search(value.children, path);
        if (found) return found;
      }
      return undefined;
    };
    const found = wanted === '.' ? undefined : search(this.of(frame, make), '');
    return found && { ...found, variablesReference: this.referenceOf(found) };
  }

  private of(frame: string, make: () => readonly Value[]): readonly Value[] {
    const known = this.scopesOf.get(frame) ?? make();
    this.scopesOf.set(frame, known);
    return known;
  }

  /** 0 where nothing is inside; a scope has a reference all the same. */
  private referenceOf(value: Value, isScope = false): number {
    if (value.children.length === 0 && !isScope) return 0;
    const known = this.references.get(value);
    if (known !== undefined) return known;
    const reference = this.values.push(value);
    this.references.set(value, reference);
    return reference;
  }
}
