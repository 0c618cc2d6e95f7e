/**
 * Source of `tagOf(text, [r, s])`: a one-time authenticator (Carter and Wegman 1981): the text's characters, three at a
 * time, are the coefficients of a polynomial in the secret `r`, evaluated modulo the prime 2^127 - 1, and the secret `s` is
 * added. Who does not know the secrets forges a tag with a chance of at most the text's length in 2^127, also after
 * having seen one text with its tag. It has to be computed in the very process that runs the code under test, which may
 * have replaced any function by then: after its first lines it uses operators only, while `node:crypto` can be replaced
 * from outside down to its native handles.
 */
export const oneTimeTag = String.raw`
const toBigInt = BigInt;
const codeAt = Function.prototype.call.bind(String.prototype.charCodeAt);
const tagOf = (text, [r, s]) => {
  const prime = 2n ** 127n - 1n;
  const code = (at) => (at < text.length ? codeAt(text, at) : 0);
  let sum = 0n;
  for (let at = 0; at < text.length; at += 3) {
    sum = (sum * r + toBigInt(code(at) * 2 ** 32 + code(at + 1) * 2 ** 16 + code(at + 2))) % prime;
  }
  return (((sum * r + toBigInt(text.length)) % prime) * r + s) % prime;
};
`;
