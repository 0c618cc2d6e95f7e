import fc from 'fast-check';

/** Pieces that paths of some system are made of, and what URIs trip over. */
const pieces = [
  ...['C:\\', 'c:/', 'D:', '\\\\server\\share\\', '\\\\?\\C:\\', '//', '/', '\\', '.', '..', '~'],
  ...['a b', '#1', '?x=1&y=2', '%', '%20', '100%25', ';', ':', '+', '=', '&', "it's", '"', '`', '$HOME', '\n', '\t'],
  ...['é', 'e\u0301', '中文', '😀', '\u202e', '\u0000', 'src', 'index.ts', '[id].tsx', 'C++'],
];

/** Paths of Windows, UNC paths, and others with whatever characters may stand in a name. */
export const anyPath: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) },
    ),
    {
      maxLength: 10,
    },
  )
  .map((parts) => parts.join(''));
