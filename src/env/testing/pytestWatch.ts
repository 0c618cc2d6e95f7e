import { pythonImpostors } from './pythonImpostors.js';

/**
 * Python source of `watcher(own, tree, files)`: what code of the tree that is no test's may have done to a test while it
 * ran, looked at after each one. `own` is the guard (`pythonGuard.ts`), `files` the test files relative to the tree.
 * - An assertion of the test's own instance, or a function of the test's module, was replaced.
 * - Something took part that is equal to everything (`pythonImpostors.ts`).
 */
export const pytestWatch = String.raw`
${pythonImpostors}
def watcher(own, tree, files):
    import types, unittest
    impostors = impostor_watch(own, tree, files)
    of_source = impostors.of_source
    namespace = type.__dict__['__dict__'].__get__
    absent = object()

    def made_by_source(value):
        kind = type(value)
        if kind is types.FunctionType:
            return of_source(value.__code__)
        if kind in (staticmethod, classmethod, types.MethodType):
            return made_by_source(value.__func__)
        holder = value if issubclass(kind, type) else kind
        return any(type(item) is types.FunctionType and of_source(item.__code__) for item in namespace(holder).values())

    def modules_of(items):
        return [module for module in {id(item.module): item.module for item in items if getattr(item, 'module', None)}.values()]

    def case_of(item):
        found = getattr(item, '_instance', None) or getattr(item, '_testcase', None) or getattr(getattr(item, 'obj', None), '__self__', None)
        return found if isinstance(found, unittest.TestCase) else None

    before = {}
    def begin(items):
        for module in modules_of(items):
            before[id(module)] = dict(vars(module))
        impostors.begin()

    def trouble(item):
        """What was done to this test, or None."""
        case = case_of(item)
        if case is not None and any(hasattr(unittest.TestCase, name) and callable(value) for name, value in list(vars(case).items())):
            return 'An assertion was replaced while the test ran.'
        module = getattr(item, 'module', None)
        known = before.get(id(module), {})
        for name, value in list(vars(module).items()) if known else []:
            old = known.get(name, absent)
            if old is not value and callable(value) and (made_by_source(value) or (callable(old) and type(value) is types.BuiltinFunctionType)):
                return name + ' of the test module was replaced while the test ran.'
        return impostors.met()

    return types.SimpleNamespace(begin=begin, trouble=trouble)
`;
