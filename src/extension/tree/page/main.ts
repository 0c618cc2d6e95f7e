import { startPage } from '../../pages/dom.js';

startPage(() => import('./tree.js'));
