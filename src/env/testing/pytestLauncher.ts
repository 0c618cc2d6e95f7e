import { keyVariable } from './resultsProof.js';

/**
 * Starts pytest as `python -m pytest` would, with the tree kept from standing in for it. Given to Python with `-c`, so that
 * no file of ours has to lie where the tests run; its arguments are the results' file, the folder of sources (or nothing),
 * and pytest's own.
 * - The tree and its sources come after the standard library in the search path: a file `json.py` or `pytest.py` in them
 *   would otherwise be run in the place of the real one.
 * - The key is taken away before code of the repository runs; at the end it proves the results, which such code could write
 *   itself before it ends the process.
 * - No proof is given where code of the tree, other than a `conftest.py`, replaced functions of pytest's or builtins, or
 *   added a plugin.
 */
export const pytestLauncher = String.raw`
import sys
results, sources = sys.argv[1], sys.argv[2]
sys.path[:] = [entry for entry in sys.path if entry != '']

import builtins, hmac, importlib, os, types
tree = os.getcwd()

def take_key():
    name = os.environ.pop('${keyVariable}', '')
    try:
        with open(name, 'rb') as file:
            key = file.read()
        os.unlink(name)
        return key
    except OSError:
        return None

def outsider(value):
    code = getattr(getattr(value, '__func__', value), '__code__', None)
    if code is None:
        return True
    name = os.path.abspath(code.co_filename)
    return os.path.basename(name) != 'conftest.py' and (name.startswith(tree + os.sep) or not os.path.exists(name))

def owned():
    names = [name for name in sys.modules if name.split('.')[0] in ('_pytest', 'pluggy')]
    holders = [builtins]
    for module in [sys.modules[name] for name in names]:
        holders.append(module)
        holders += [item for item in vars(module).values() if isinstance(item, type) and item.__module__ == module.__name__]
    return holders

def functions_of(holder):
    kinds = (types.FunctionType, staticmethod, classmethod, property)
    return [(name, value) for name, value in list(vars(holder).items()) if isinstance(value, kinds) or holder is builtins]

def watch():
    before = [(holder, name, value, getattr(value, '__code__', None)) for holder in owned() for name, value in functions_of(holder)]
    def replaced():
        for holder, name, value, code in before:
            now = vars(holder).get(name)
            if holder is builtins and name in ('_', '__doc__', '__build_class__', '__import__', 'print', 'open', 'input'):
                continue
            if now is not value and outsider(now):
                return True
            if code is not None and value.__code__ is not code:
                return True
        return False
    return replaced

class Plugins:
    """Knows the plugins that were there when the tests began; code under test may not add one."""
    def pytest_sessionstart(self, session):
        self.manager = session.config.pluginmanager
        self.known = {id(plugin) for plugin in self.manager.get_plugins()}
    def foreign(self):
        manager = getattr(self, 'manager', None)
        added = [plugin for plugin in manager.get_plugins() if id(plugin) not in self.known] if manager else []
        hooks = [hook for plugin in added for hook in manager.get_hookcallers(plugin) or [] ]
        return any(impl.plugin in added and outsider(impl.function) for hook in hooks for impl in hook.get_hookimpls())

def main():
    key = take_key()
    import pytest
    from _pytest.config import default_plugins
    for name in default_plugins:
        importlib.import_module('_pytest.' + name)
    replaced = watch()
    place = max([index for index, entry in enumerate(sys.path) if entry.endswith(('.zip', 'lib-dynload'))] + [-1]) + 1
    own = [os.path.abspath(sources)] if sources else []
    sys.path[place:place] = [tree] + own
    if sources:
        inherited = os.environ.get('PYTHONPATH')
        os.environ['PYTHONPATH'] = sources + (os.pathsep + inherited if inherited else '')
    sign, finish = hmac.new, sys.exit
    arguments = sys.argv[3:]
    sys.argv[:] = [pytest.__file__] + arguments
    plugins = Plugins()
    code = pytest.main(arguments, plugins=[plugins])
    if key is not None and not replaced() and not plugins.foreign():
        with open(results, 'rb') as file:
            proof = sign(key, file.read(), 'sha256').hexdigest()
        with open(results + '.proof', 'w') as file:
            file.write(proof)
    finish(code)

main()
`;
