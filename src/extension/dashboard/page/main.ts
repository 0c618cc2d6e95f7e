import { startPage } from '../../pages/dom.js';

startPage(() => import('./dashboard.js'));
