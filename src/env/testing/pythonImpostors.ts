/**
 * Python source of `impostor_watch(own, tree, files)`: has something taken part in a test that is equal to everything? Its
 * class is found by comparing an empty instance with two values that nobody can know; classes that were there when the tests
 * began (`begin()`) count where a test compares one, later ones at once (`met()`). `own` is the guard (`pythonGuard.ts`), `files`
 * the test files relative to the tree; `of_source(code)`: is it of the tree and of no test's?
 * Not covered: values that read the expected one from the test before they answer; that is an answer learnt by heart.
 */
export const pythonImpostors = String.raw`
def impostor_watch(own, tree, files):
    import os, re, types
    tests = re.compile(r'(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|tests?|conftest)\.py$')
    namespace = type.__dict__['__dict__'].__get__
    noise = int.from_bytes(os.urandom(8), 'big')
    pairs = [(noise, -noise - 1), (noise / 3, -noise / 3), (str(noise), 'x%d' % noise), (b'%d' % noise, b'x%d' % noise),
             ([noise], ['x']), ((noise,), ('x',)), ({noise: 1}, {'x': 2}), ({noise}, {'x'})]
    wrappers = set()
    used = []

    def of_source(code):
        name = os.path.relpath(os.path.abspath(code.co_filename), tree).replace(os.sep, '/')
        return code not in wrappers and own.of_tree(code) and name not in files and not tests.search(name)

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

    def begin():
        for cls, equal in list(impostors()):
            type.__setattr__(cls, '__eq__', recorded(equal))

    def met():
        late = [cls for cls, equal in impostors()]
        if late or used:
            used.clear()
            return 'It was compared with something that is equal to everything.'
        return None

    return types.SimpleNamespace(begin=begin, met=met, of_source=of_source)
`;
