import { pytestWatch } from './pytestWatch.js';
import { pythonGuard } from './pythonGuard.js';

/**
 * Starts pytest as `python -m pytest` would, with the tree kept from standing in for it. Given to Python with `-c`, so that
 * no file of ours has to lie where the tests run; its arguments are the results' file, the folder of sources (or nothing),
 * and pytest's own.
 * - The tree and its sources come after the standard library in the search path: a file `json.py` or `pytest.py` in them
 *   would otherwise be run in the place of the real one.
 * - The key is taken away before code of the repository runs; at the end it proves the results, which such code could write
 *   itself before it ends the process. An audit hook holds it: unlike a variable, that is on no frame of the stack, and
 *   looking for it with `gc` is refused. It signs for the launcher's own frame only, once pytest has returned there.
 * - No proof is given where code of the tree, other than a `conftest.py`, replaced functions or classes of pytest's or
 *   unittest's or builtins, or added a plugin. A test that such code replaced fails before it runs.
 * - After each test it is looked at what was done to it meanwhile (`pytestWatch.ts`).
 * Not covered: what shares an interpreter with pytest can in the end do what pytest does (through `ctypes`, or by reading
 * this text and undoing it step by step).
 */
export const pytestLauncher = String.raw`
import sys
sys.path[:] = [entry for entry in sys.path if entry != '']
${pythonGuard}
${pytestWatch}
def launch(results, sources, arguments):
    import hmac, importlib, os, types, unittest
    import pytest
    tree = os.getcwd()
    outsider = guard(tree).outsider
    files = {os.path.relpath(os.path.abspath(word), tree).replace(os.sep, '/') for word in arguments if word.endswith('.py')}
    watching = watcher(guard(tree), tree, files)
    begin, trouble = watching.begin, watching.trouble

    def codes_of(item):
        holder = getattr(item.parent, 'obj', None)
        found = [vars(item).get('_obj'), getattr(holder, getattr(item, 'originalname', None) or item.name, None)]
        functions = [getattr(value, '__func__', value) for value in found if value is not None and outsider(value)]
        return {getattr(function, '__code__', None) for function in functions}

    def shadowed(item):
        own = [(name, value) for name, value in vars(item).items() if isinstance(value, (types.FunctionType, types.MethodType))]
        return any(hasattr(type(item), name) and outsider(value) for name, value in own)

    class Plugins:
        """Knows the plugins and tests that were there when the tests began; code under test may not add or replace one."""
        def pytest_sessionstart(self, session):
            self.manager = session.config.pluginmanager
            self.known = {id(plugin) for plugin in self.manager.get_plugins()}
        def pytest_collection_finish(self, session):
            self.codes = {id(item): codes_of(item) for item in session.items}
            begin(session.items)
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_call(self, item):
            if shadowed(item) or not codes_of(item) <= self.codes.get(id(item), set()):
                raise RuntimeError('The test was replaced while the tests ran.')
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtest_teardown(self, item):
            done = trouble(item)
            if done is not None:
                raise RuntimeError(done)
        def foreign(self):
            manager = getattr(self, 'manager', None)
            added = [plugin for plugin in manager.get_plugins() if id(plugin) not in self.known] if manager else []
            hooks = [hook for plugin in added for hook in manager.get_hookcallers(plugin) or [] ]
            return any(impl.plugin in added and outsider(impl.function) for hook in hooks for impl in hook.get_hookimpls())

    def prove_at_end(frame, plugins):
        own = guard(tree)
        key, replaced, sign, caller, read = own.take_key(), own.watch(('builtins', '_pytest', 'pluggy', 'unittest')), hmac.new, sys._getframe, open
        # Apart from the hook that refuses: what is raised there shows its frame.
        def finish(event, arguments):
            if event != 'whetstone.finish' or caller(1) is not frame or key is None or replaced() or plugins.foreign():
                return
            with read(results, 'rb') as file:
                proof = sign(key, file.read(), 'sha256').hexdigest()
            with read(results + '.proof', 'w') as file:
                file.write(proof)
        sys.addaudithook(own.refuse)
        sys.addaudithook(finish)

    from _pytest.config import default_plugins
    for name in default_plugins:
        importlib.import_module('_pytest.' + name)
    plugins = Plugins()
    prove_at_end(sys._getframe(), plugins)
    place = max([index for index, entry in enumerate(sys.path) if entry.endswith(('.zip', 'lib-dynload'))] + [-1]) + 1
    sys.path[place:place] = [tree] + ([os.path.abspath(sources)] if sources else [])
    if sources:
        inherited = os.environ.get('PYTHONPATH')
        os.environ['PYTHONPATH'] = sources + (os.pathsep + inherited if inherited else '')
    audit, leave = sys.audit, sys.exit
    sys.argv[:] = [pytest.__file__] + arguments
    code = pytest.main(arguments, plugins=[plugins])
    audit('whetstone.finish')
    leave(code)

launch(sys.argv[1], sys.argv[2], sys.argv[3:])
`;
