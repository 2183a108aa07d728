import './base.css';
import './report.css';
import './ledger.css';
import './timeline.css';
import './summary.css';
import './layers.css';
import './columnmenu.css';
import './diagnosis.css';
