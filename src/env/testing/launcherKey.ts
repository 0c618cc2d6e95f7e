import { keyVariable } from './resultsProof.js';

/**
 * Source of `takeKey()` for the launchers, which is called before anything else is started: it takes the run's key away,
 * so that no code under test finds it, and gives undefined where there is none. Wants `readFileSync` and `unlinkSync` imported.
 */
export const launcherKey = String.raw`
// A process of the tests could else open the inspector here with this signal.
process.on('SIGUSR1', () => {});

function takeKey() {
  const file = process.env.${keyVariable};
  delete process.env.${keyVariable};
  try {
    const key = readFileSync(file, 'utf8');
    unlinkSync(file);
    return key;
  } catch {
    return undefined;
  }
}
`;
