import { pythonGuard } from '../pythonGuard.js';
import { pythonImpostors } from '../pythonImpostors.js';

/**
 * Runs tests of unittest as `python -m unittest discover` would, and writes what became of each as JSON lines. Given to
 * Python (3.8 or newer, for its audit hooks) with `-c`, so that no file of ours has to lie where the tests run; its arguments are the results'
 * file, the folder of sources (or nothing), and the test files.
 * - A file is imported under the name that it has from its outermost package, whose folder is put into the search path, as
 *   discovery does; two files of the same name in different folders do not stand in each other's way. `load_tests` is obeyed.
 * - The tree and its sources come after the standard library in the search path: a file `json.py` in them would
 *   otherwise be run in the place of the real one. The tests' own packages are taken from the tree whatever they are called (`test`).
 * - The key is taken away before code of the repository runs, and lies with the results in an audit hook: unlike a variable,
 *   that is on no frame of the stack, and looking for it with `gc` is refused. The hook takes results from the result
 *   object alone, called by code that is not of the tree; what failed once stays failed, and what was never said to have
 *   succeeded has failed. It writes and signs for the launcher's own frame only, once the suite has come to its end there.
 * - No results are given where code of the tree replaced functions or classes of unittest's or builtins, and a test whose method or
 *   assertions were replaced since it was loaded has failed, as has one that something took part in which is equal to everything
 *   (`pythonImpostors.ts`).
 * Not covered: a clean-up that empties the list of failures in Python before 3.11, which reports them after all clean-ups;
 * what shares an interpreter with the tests can in the end do what they do (through `ctypes`, or by reading this text and
 * undoing it step by step).
 *
 * A line is `{"file", "path", "status", "text"}`: file and text's places relative to where it was started, the text in
 * pytest's short form (`file:line: in name`, `E   Error: message`). The last is `{"end": true}`.
 */
export const unittestLauncher = String.raw`
import sys
sys.path[:] = [entry for entry in sys.path if entry != '']
${pythonGuard}
${pythonImpostors}
def launch(results, sources, files):
    import hmac, importlib.util, json, os, traceback, types, unittest, warnings
    from unittest import case, loader, suite, util
    texts = b''.join(open(file, 'rb').read() for file in files if os.path.isfile(file))
    # What the tests will ask for is there before code of the tree is, and is watched.
    if b'mock' in texts:
        import unittest.mock
    if b'Isolated' in texts:
        import unittest.async_case
    tree = os.getcwd()
    audit, caller, leave = sys.audit, sys._getframe, sys.exit

    def relative(name):
        return os.path.relpath(name, tree).replace(os.sep, '/')

    def inside(name):
        return name[:1] != '<' and 'site-packages' not in name and os.path.abspath(name).startswith(tree + os.sep)

    def text_of(kind, value, trace, heading=''):
        lines = [heading] if heading else []
        for frame, number in traceback.walk_tb(trace):
            if inside(frame.f_code.co_filename):
                lines.append('%s:%d: in %s' % (relative(frame.f_code.co_filename), number or 0, frame.f_code.co_name))
        for part in traceback.format_exception_only(kind, value):
            lines += ['E   ' + line for line in part.rstrip('\n').split('\n')]
        return '\n'.join(lines)[:20000]

    # -- What the hook knows; no object that tests can reach leads here. --
    def keep_results(frame, result_type):
        own = guard(tree)
        key, sign, write, dumps = own.take_key(), hmac.new, open, json.dumps
        replaced, assertions_replaced = own.watch(('builtins', 'unittest')), own.watch(('unittest.case',))
        impostors = impostor_watch(own, tree, set(files))
        run, api = unittest.TestCase.run.__code__, set(dir(unittest.TestCase)) - set(dir(object))
        methods, of_result, outcome_type = {**vars(result_type)}, unittest.TestResult.__dict__['__dict__'].__get__, case._Outcome
        from_result = {value.__code__ for value in methods.values() if type(value) is types.FunctionType}
        from_result.add(unittest.TestCase._callTestMethod.__code__)
        tests, places, functions, said, holders = [], {}, {}, {}, []

        attributes = unittest.TestCase.__dict__['__dict__'].__get__
        kinds_of, namespace = type.__dict__['__mro__'].__get__, type.__dict__['__dict__'].__get__
        wrappers = (staticmethod, classmethod, types.MethodType)

        def is_callable(value):
            return type(value) in wrappers or any('__call__' in namespace(kind) for kind in kinds_of(type(value)))

        # What the test and its classes put in the place of unittest's own, and its method.
        def functions_of(test):
            if not issubclass(type(test), unittest.TestCase):
                return None
            method = attributes(test).get('_testMethodName')
            found = []
            for holder in [attributes(test)] + [namespace(kind) for kind in kinds_of(type(test)) if kind not in (object, unittest.TestCase)]:
                for name, value in list(holder.items()):
                    if type(name) is str and (name in api or name == method) and is_callable(value):
                        function = value.__func__ if type(value) in wrappers else value
                        code = function.__code__ if type(function) is types.FunctionType else None
                        found.append((name, id(value), id(code)))
            return sorted(found)

        def take(loaded):
            tests.extend(dict(entry) for entry in loaded)
            impostors.begin()
            for index, entry in enumerate(tests):
                places[id(entry['test'])] = index
                functions[index] = functions_of(entry['test'])

        def keep(test, name, status, text):
            index = places.get(id(test))
            if index is None:
                holders.append((name, status, text))
            elif index not in said or order.index(status) > order.index(said[index][0]):
                said[index] = (status, text)
        order = ('passed', 'skipped', 'failed')

        def check(test):
            index = places.get(id(test))
            if assertions_replaced() or index is not None and functions_of(test) != functions[index]:
                keep(test, '', 'failed', 'E   The test or its assertions were replaced while the tests ran.')
            met = impostors.met()
            if met is not None:
                keep(test, '', 'failed', 'E   ' + met)

        # Only a run that nobody has tampered with says that a test passed; that one failed, anyone may say but the tree.
        def may_say(status, asking):
            code, result = asking.f_back.f_code, asking.f_locals.get('self')
            name = os.path.abspath(code.co_filename)
            if status != 'passed':
                return not own.of_tree(code) or 'site-packages' in name
            tampered = {**namespace(result_type)} != methods or any(name in methods for name in of_result(result))
            if code is run:
                tampered = tampered or type(asking.f_back.f_locals.get('outcome')) is not outcome_type
            elif not ('site-packages' in name and name.startswith(sys.prefix)):
                return False
            return type(result) is result_type and not tampered

        def lines():
            for index, entry in enumerate(tests):
                holder = next((held for held in holders if held[0] in entry['before']), None)
                status, text = said.get(index) or (holder[1:] if holder else ('failed', 'E   The test did not come to its end.'))
                yield dict(file=entry['file'], path=entry['path'], status=status, text=text)
            for name, status, text in holders:
                if status != 'failed' or any(name in entry['before'] for entry in tests):
                    continue
                last = next((entry for entry in reversed(tests) if name in entry['after']), None)
                where = last or dict(file=tests[0]['file'] if tests else '', after={name: [name]})
                yield dict(file=where['file'], path=where['after'][name], status=status, text=text)

        def write_results():
            data = ''.join(dumps(line) + '\n' for line in [*lines(), dict(end=True)]).encode()
            with write(results, 'wb') as file:
                file.write(data)
            with write(results + '.proof', 'w') as file:
                file.write(sign(key, data, 'sha256').hexdigest())

        def hook(event, arguments):
            if event[:10] != 'whetstone.':
                return
            asking = caller(1)
            if event == 'whetstone.result' and asking.f_code in from_result and may_say(arguments[2], asking):
                keep(*arguments)
            elif event == 'whetstone.check' and asking.f_code in from_result:
                check(*arguments)
            elif event == 'whetstone.loaded' and asking is frame and not tests:
                take(*arguments)
            elif event == 'whetstone.finish' and asking is frame and key is not None and not replaced():
                write_results()
        # Apart from the hook that refuses: what is raised there shows its frame.
        sys.addaudithook(own.refuse)
        sys.addaudithook(hook)

    # -- Loading. --
    def import_file(file):
        folder, base = os.path.split(os.path.join(tree, file))
        names = [] if base == '__init__.py' else [os.path.splitext(base)[0]]
        while os.path.exists(os.path.join(folder, '__init__.py')) and folder != tree:
            folder, name = os.path.split(folder)
            names.insert(0, name)
        if folder not in sys.path:
            sys.path.insert(place, folder)
        for length in range(1, len(names) + 1):
            module = import_part('.'.join(names[:length]), os.path.join(folder, *names[:length]))
        return module

    def import_part(name, place):
        package = os.path.join(place, '__init__.py')
        file = package if os.path.isfile(package) else place + '.py'
        known = sys.modules.get(name)
        if known is not None and (name in first or os.path.abspath(getattr(known, '__file__', None) or '') == file):
            return known
        locations = [place] if file == package else None
        spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=locations)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise
        parent, _, child = name.rpartition('.')
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)
        return sys.modules[name]

    def flat(tests):
        for item in tests:
            if isinstance(item, suite.BaseTestSuite):
                yield from flat(item)
            else:
                yield item

    def path_of(test):
        method = getattr(test, '_testMethodName', None)
        if method is None or type(test).__module__.split('.')[0] in ('unittest', 'doctest'):
            return [str(test.id())]
        return [part for part in type(test).__qualname__.split('.') if part != '<locals>'] + [method]

    def entry_of(file, test):
        if isinstance(test, (loader._FailedTest, NotLoaded)):
            return dict(file=file, path=[], test=test, before=(), after={})
        kind, module, path = util.strclass(type(test)), type(test).__module__, path_of(test)
        after = {'tearDownClass (%s)' % kind: path[:-1] + ['tearDownClass'], 'tearDownModule (%s)' % module: ['tearDownModule']}
        return dict(file=file, path=path, test=test, before=('setUpClass (%s)' % kind, 'setUpModule (%s)' % module), after=after)

    # Stands for the tests of a file that cannot be loaded.
    class NotLoaded(unittest.TestCase):
        def __init__(self, failure):
            super().__init__('fail_to_load')
            self.failure = failure
        def fail_to_load(self):
            raise self.failure

    def load(file):
        try:
            return unittest.defaultTestLoader.loadTestsFromModule(import_file(file), pattern='test*.py')
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if not isinstance(error, Exception):
                error = RuntimeError('%s at import' % type(error).__name__)
            return suite.TestSuite([NotLoaded(error)])

    # -- Running. --
    class Result(unittest.TestResult):
        def startTest(self, test):
            super().startTest(test)
            audit('whetstone.check', test)
        def stopTest(self, test):
            super().stopTest(test)
            audit('whetstone.check', test)
        def addSuccess(self, test):
            audit('whetstone.result', test, '', 'passed', '')
        def addError(self, test, error):
            audit('whetstone.result', test, str(test.id()), 'failed', text_of(*error))
        def addFailure(self, test, error):
            audit('whetstone.result', test, str(test.id()), 'failed', text_of(*error))
        def addSkip(self, test, reason):
            # A subtest that is skipped is only a part of its test.
            audit('whetstone.result', getattr(test, 'test_case', test), str(test.id()), 'skipped', '')
        def addExpectedFailure(self, test, error):
            audit('whetstone.result', test, '', 'skipped', '')
        def addUnexpectedSuccess(self, test):
            audit('whetstone.result', test, '', 'failed', 'E   Unexpected success: the test is marked as an expected failure.')
        def addSubTest(self, test, subtest, error):
            if error is not None:
                heading = 'E   In the subtest ' + str(subtest._subDescription())[:200]
                audit('whetstone.result', test, '', 'failed', text_of(*error, heading=heading))

    first = set(sys.modules) - {'test'}
    place = max([index for index, entry in enumerate(sys.path) if entry.endswith(('.zip', 'lib-dynload'))] + [-1]) + 1
    sys.path[place:place] = [tree] + ([os.path.abspath(sources)] if sources else [])
    if sources:
        inherited = os.environ.get('PYTHONPATH')
        os.environ['PYTHONPATH'] = sources + (os.pathsep + inherited if inherited else '')
    sys.argv[:] = [os.path.join(os.path.dirname(unittest.__file__), '__main__.py')]
    if not sys.warnoptions:
        warnings.simplefilter('default')

    # A look before clean-ups can put back what was replaced.
    def checked(call):
        def _callTestMethod(self, method):
            call(self, method)
            audit('whetstone.check', self)
        return _callTestMethod
    for kind in [unittest.TestCase] + ([unittest.IsolatedAsyncioTestCase] if 'unittest.async_case' in sys.modules else []):
        kind._callTestMethod = checked(kind._callTestMethod)
    keep_results(caller(0), Result)
    suites = [(file, load(file)) for file in files]
    audit('whetstone.loaded', [entry_of(file, test) for file, tests in suites for test in flat(tests)])
    suite.TestSuite([tests for _, tests in suites]).run(Result())
    audit('whetstone.finish')
    leave(0)

launch(sys.argv[1], sys.argv[2], sys.argv[3:])
`;
