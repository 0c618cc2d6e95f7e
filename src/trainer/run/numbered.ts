/** Numbers values in the order that they first come; equal ones, as their keys tell, have one number and are held once. */
export class Numbered<T> {
  private readonly numbers = new Map<string, number>();
  private readonly values: T[] = [];

  numberOf(key: string, value: T): number {
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.values.length);
    return this.values.push(value) - 1;
  }

  /** Undefined where the value has not come. */
  known(key: string): number | undefined {
    return this.numbers.get(key);
  }

  value(number: number): T {
    return this.values[number];
  }
}
