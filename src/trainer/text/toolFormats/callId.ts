/** A call's id as Mistral's templates insist on it: nine letters and digits. An id that is so already stays. */
export function nineCharacterId(id: string): string {
  return id
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(-9)
    .padStart(9, '0');
}
