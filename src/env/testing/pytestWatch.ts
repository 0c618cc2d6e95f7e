/**
 * Python source of `watcher(own, tree, files)`: what code of the tree that is no test's may have done to a test while it
 * ran, looked at after each one. `own` is the guard (`pythonGuard.ts`), `files` the test files relative to the tree.
 * - An assertion of the test's own instance, or a function of the test's module, was replaced.
 * - Something took part that is equal to everything. Its class is found by comparing an empty instance with two values that
 *   nobody can know; classes that were there when the tests began count where a test compares one, later ones at once.
 * Not covered: values that read the expected one from the test before they answer; that is an answer learnt by heart.
 */
export const pytestWatch = String.raw`
def watcher(own, tree, files):
    import os, re, types, unittest
    tests = re.compile(r'(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|tests?|conftest)\.py$')
    namespace = type.__dict__['__dict__'].__get__
    absent = object()
    noise = int.from_bytes(os.urandom(8), 'big')
    pairs = [(noise, -noise - 1), (noise / 3, -noise / 3), (str(noise), 'x%d' % noise), (b'%d' % noise, b'x%d' % noise),
             ([noise], ['x']), ((noise,), ('x',)), ({noise: 1}, {'x': 2}), ({noise}, {'x'})]
    wrappers = set()
    used = []

    def of_source(code):
        name = os.path.relpath(os.path.abspath(code.co_filename), tree).replace(os.sep, '/')
        return code not in wrappers and own.of_tree(code) and name not in files and not tests.search(name)

    def made_by_source(value):
        kind = type(value)
        if kind is types.FunctionType:
            return of_source(value.__code__)
        if kind in (staticmethod, classmethod, types.MethodType):
            return made_by_source(value.__func__)
        holder = value if issubclass(kind, type) else kind
        return any(type(item) is types.FunctionType and of_source(item.__code__) for item in namespace(holder).values())

    def empty(cls):
        for base in cls.__mro__:
            if not base.__flags__ & 1 << 9:
                return base.__new__(cls)

    def equals_everything(cls, equal):
        try:
            thing = empty(cls)
            return any(all(equal(thing, value) not in (False, NotImplemented) for value in pair) for pair in pairs)
        except BaseException:
            return False

    def impostors():
        pending, seen = [object], set()
        while pending:
            for cls in type.__subclasses__(pending.pop()):
                if id(cls) in seen:
                    continue
                seen.add(id(cls))
                pending.append(cls)
                equal = namespace(cls).get('__eq__')
                if type(equal) is types.FunctionType and of_source(equal.__code__) and equals_everything(cls, equal):
                    yield cls, equal

    def recorded(equal):
        def __eq__(self, other):
            answer = equal(self, other)
            if answer is True:
                used.append(1)
            return answer
        wrappers.add(__eq__.__code__)
        return __eq__

    def modules_of(items):
        return [module for module in {id(item.module): item.module for item in items if getattr(item, 'module', None)}.values()]

    def case_of(item):
        found = getattr(item, '_instance', None) or getattr(item, '_testcase', None) or getattr(getattr(item, 'obj', None), '__self__', None)
        return found if isinstance(found, unittest.TestCase) else None

    before = {}
    def begin(items):
        for module in modules_of(items):
            before[id(module)] = dict(vars(module))
        for cls, equal in list(impostors()):
            type.__setattr__(cls, '__eq__', recorded(equal))

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
        late = [cls for cls, equal in impostors()]
        if late or used:
            used.clear()
            return 'It was compared with something that is equal to everything.'
        return None

    return types.SimpleNamespace(begin=begin, trouble=trouble)
`;
