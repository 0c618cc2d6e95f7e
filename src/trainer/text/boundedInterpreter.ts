import { getHeapStatistics } from 'node:v8';
import { Interpreter } from '@huggingface/jinja';

/** Items of one list, and characters of one text; conversations have hundreds and some hundred thousands. */
const longestList = 100_000;
const longestText = 2 ** 24;
/** Bytes that a rendering may add to the heap; real templates add some megabytes. */
const mostHeap = 2 ** 28;
/** Evaluations from one look at the heap to the next. */
const lookEvery = 1024;

/** What is used of the library's interpreter, whose own declarations do not resolve. */
interface Interpreting {
  evaluate(statement: { readonly type: string } | undefined, environment: unknown): { readonly value: unknown };
  run(program: unknown): { readonly value: unknown };
}
const LibraryInterpreter = Interpreter as new (environment: unknown) => Interpreting;

/**
 * Jinja for templates of strangers: a list that doubles at each turn of a loop would fill the memory and end the process long
 * before any time-out. Throws an Error where a value, or all of them together, grow beyond what a template is for.
 */
export class BoundedInterpreter extends LibraryInterpreter {
  private evaluations = 0;
  private readonly heapBefore = usedHeap();

  override evaluate(...[statement, environment]: Parameters<Interpreting['evaluate']>) {
    // A loop makes a scope for each item before anything in it is evaluated.
    if (++this.evaluations % lookEvery === 0 || statement?.type === 'For') this.look();
    const result = super.evaluate(statement, environment);
    const { value } = result;
    if (Array.isArray(value) && value.length > longestList)
      throw new Error(`a list has more than ${longestList} items`);
    if (typeof value === 'string' && value.length > longestText)
      throw new Error(`a text has more than ${longestText} characters`);
    return result;
  }

  private look(): void {
    if (usedHeap() - this.heapBefore > mostHeap)
      throw new Error(`it takes more than ${mostHeap / 2 ** 20} MiB of memory`);
  }
}

const usedHeap = (): number => getHeapStatistics().used_heap_size;
