import { keyVariable } from './resultsProof.js';

/**
 * Python source that the launchers share: `guard(tree)` gives
 * - `take_key()`: the key's bytes, its file and variable gone; None where there is none;
 * - `outsider(value)`: is this function, class or method made by code of the tree (a `conftest.py` and what is installed in it
 *   aside), or by none that lies in a file? `of_tree(code)`: the same of a code object.
 * - `watch(packages)`: a function that tells whether such code has replaced functions or classes of these packages
 *   since;
 * - `refuse`: an audit hook against looking for the key in memory, and against tracing the tests.
 * All of it lives in closures, since code under test can import `__main__`; what is handed to objects that it can reach
 * comes from another call than what decides about the proof, since cells can be written to.
 */
export const pythonGuard = String.raw`
import builtins
# Functions from here on look their builtins up in this copy: tests replace some for a while.
__builtins__ = dict(vars(builtins))

def guard(tree):
    import builtins, os, sys, sysconfig, types
    modules, absolute, basename, exists, separator = sys.modules, os.path.abspath, os.path.basename, os.path.exists, os.sep
    namespace = type.__dict__['__dict__'].__get__
    # A virtual environment in the tree holds what was installed: it is mounted over whatever a patch puts there.
    places = [sysconfig.get_path('purelib'), sysconfig.get_path('platlib')] + ([sys.prefix] if sys.prefix != tree else [])
    installed = tuple(absolute(place) + separator for place in places)

    def take_key():
        name = os.environ.pop('${keyVariable}', '')
        try:
            with open(name, 'rb') as file:
                key = file.read()
            os.unlink(name)
            return key
        except OSError:
            return None

    # Asks values for nothing that code of the tree could answer.
    def outsider(value):
        kind = type(value)
        if issubclass(kind, type):
            return any(type(item) is types.FunctionType and outsider(item) for item in namespace(value).values())
        if kind in (staticmethod, classmethod, types.MethodType):
            return outsider(value.__func__)
        return kind is not types.FunctionType or of_tree(value.__code__)

    def of_tree(code):
        name = absolute(str.__add__('', code.co_filename))
        if basename(name) == 'conftest.py' or name.startswith(installed):
            return False
        return name.startswith(tree + separator) or not exists(name)

    def owned(packages):
        names = [name for name in modules if any((name + '.').startswith(package + '.') for package in packages)]
        holders = []
        for module in [modules[name] for name in names]:
            holders.append(module)
            holders += [item for item in vars(module).values() if isinstance(item, type) and item.__module__ == module.__name__]
        return holders

    def functions_of(holder):
        kinds = (types.FunctionType, staticmethod, classmethod, property, type)
        return [(name, value) for name, value in list(vars(holder).items()) if isinstance(value, kinds) or holder is builtins]

    def watch(packages):
        before = [(holder, name, value, getattr(value, '__code__', None)) for holder in owned(packages) for name, value in functions_of(holder)]
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

    def refuse(event, arguments):
        if event in ('gc.get_objects', 'gc.get_referrers', 'gc.get_referents'):
            raise RuntimeError(event + ' is not available where results are recorded.')
        # With these, a source could step over the assertions of the test that called it.
        if event in ('sys.settrace', 'sys.setprofile', 'sys.monitoring.register_callback'):
            frame = sys._getframe(1)
            while frame:
                if frame.f_code.co_filename != '<string>' and of_tree(frame.f_code):
                    raise RuntimeError(event + ' is not available to the code under test.')
                frame = frame.f_back

    return types.SimpleNamespace(take_key=take_key, outsider=outsider, of_tree=of_tree, watch=watch, refuse=refuse)
`;
