"""What the prompt guard reads: the words of nine languages for each idea of an injection.

A word ends where it is written to end; ``*`` lets it go on. Accents do not count.
"""

from __future__ import annotations

from typing import Final

Idea = str

WORDS: Final[dict[Idea, str]] = {
    "override": """
        ignore|ignores|ignoring|disregard*|forget|forgets|bypass*|override|overrides|overrule*|
        supersede*|pay no attention to|stop following|do not follow|don't follow|set aside|
        no longer follow|take precedence over|replaces all|ignorier*|vergiss|vergessen sie|
        missachte*|umgehe|umgehen sie|beachte nicht|setz dich uber|ignorez|oublie|oubliez|
        ne tiens pas compte|ne tenez pas compte|contourne*|outrepasse*|ignora|ignorad|ignoren|
        olvida|olvide|olviden|haz caso omiso|no tengas en cuenta|descarta|ignori|ignorate|
        dimentica|dimenticate|dimentichi|non tenere conto|trascura|esqueca|esquece|desconsidere|
        desconsidera|nao siga|игнорируй*|проигнорируй*|забудь*|не обращай внимания|отмени|
        обойди|не следуй|пренебреги|忽略|无视|無視|忘记|忘掉|忘記|不要理会|绕过|不要遵守|忽視|
        忘れ|従わないで|従うな
        """,
    "orders": """
        instruction|instructions|prompt|prompts|guideline|guidelines|directive|directives|
        programming|anweisung|anweisungen|instruktionen|richtlinie|richtlinien|vorgaben|
        systemprompt|consigne|consignes|instruccion|instrucciones|directrices|indicaciones|
        istruzione|istruzioni|linee guida|direttive|instrucoes|instrucao|diretrizes|инструкци*|
        указани*|промпт*|指令|指示|提示词|提示|说明|命令|プロンプト|ガイドライン
        """,
    "rules": """
        rules|policy|policies|restrictions|constraints|limitations|orders|commands|messages|
        context|ones|safeguards|regeln|einschrankungen|vorschriften|regles|contexte|reglas|
        restricciones|normas|regole|restrizioni|regras|restricoes|правил*|ограничени*|规则|規則|
        限制|规定|约束|ルール|制限
        """,
    "prior": """
        previous|previously|prior|above|earlier|preceding|all|any|your|system|developer|
        original|vorherig*|vorangegangen*|bisherig*|obig*|alle|allen|deine|deinen|ihre|fruher*|
        precedent|precedents|precedente|precedentes|anterieur*|ci-dessus|toutes|tous|tes|vos|
        votre|anterior|anteriores|previas|previos|todas|todos|tus|sus|precedenti|tutte|tue|
        tutti|suas|seus|предыдущ*|прежн*|все|всех|выше|твои|свои|ваши|之前|以上|上面|先前|所有|
        前面|你的|此前|以前|これまで|上記|前の|すべて|全て|あなたの|先ほど
        """,
    "everything": """
        everything above|everything before|everything you were told|everything you know|
        all of the above|what you were told|what i said before|everything said|the above text|
        alles, was|alles was|alles bisherige|alles davor|tout ce qui precede|
        tout ce qui a ete dit|tout ce que|todo lo anterior|todo lo que|tutto cio che|
        tutto quello che|tudo o que|tudo acima|все, что|все вышесказанное|以上所有|上述内容|
        以上内容|これまでの|上記の内容
        """,
    "unbound": """
        no restrictions|no rules|no limits|no limitations|no filters|no filter|no guidelines|
        no content policy|no content policies|no ethical|without restrictions|
        without any restriction*|without limits|without limitations|without filters|
        without censorship|unrestricted|uncensored|unfiltered|jailbreak*|jailbroken|
        developer mode|god mode|dan mode|do anything now|without any rules|restricted content|
        free from all|every request|all requests|any request|ohne einschrankung*|
        ohne einschraenkung*|keine regeln|keine einschrankungen|unbeschrankt*|ohne filter|
        ohne regeln|keinerlei regeln|sans restriction*|sans limite*|sans filtre*|aucune regle|
        aucune restriction|aucune limite|sin restriccion*|sin limites|sin filtros|sin reglas|
        ninguna regla|ninguna restriccion|senza restrizion*|senza limiti|senza filtri|
        senza regole|nessuna regola|nessuna restrizione|sem restricoes|sem limites|sem filtros|
        sem regras|без ограничени*|никаких правил|нет ограничений|нет правил|без правил|
        без цензуры|没有限制|无限制|不受限制|没有任何限制|没有规则|不受任何|無制限|制限なし|
        制限のない|制限はない|ルールはない|制約なし
        """,
    "persona": """
        you are now|you're now|you are no longer|you will now be|pretend you are an ai|
        pretend to be an ai|pretend you have|pretend that you have|act as if you|
        as if you have no|act as an unrestricted|act as dan|you are dan|imagine you are an ai|
        you have been freed|your new role|your real role|your true self|respond as if|
        answer as if|du bist jetzt|du bist nun|du bist nicht mehr|tu so, als|sie sind jetzt|
        tu es maintenant|vous etes maintenant|tu n'es plus|fais comme si|faites comme si|
        ahora eres|ya no eres|actua como si|finge que|ora sei|adesso sei|non sei piu|fingi di|
        agisci come se|agora voce e|voce agora e|voce nao e mais|finja que|aja como se|
        теперь ты|ты теперь|ты больше не|притворись|представь, что ты|веди себя так|你现在是|
        你不再是|假装你|扮演一个没有|現在あなたは|あなたは今|あなたはもう|ふりをして|
        今からあなたは
        """,
    "future": """
        from now on|from this point|henceforth|going forward you|for the rest of|
        for the remainder|in every future|in all future|in every reply|in every response|
        in all replies|every future reply|on the next user message|in future sessions|
        between sessions|ab jetzt|ab sofort|von nun an|in jeder antwort|desormais|
        a partir de maintenant|dans chaque reponse|dorenavant|a partir de ahora|
        de ahora en adelante|en cada respuesta|d'ora in poi|da ora in poi|in ogni risposta|
        a partir de agora|de agora em diante|em cada resposta|отныне|с этого момента|впредь|
        в каждом ответе|从现在开始|从现在起|从此以后|今后|每次回复|今から|これから|今後は|
        すべての回答|毎回の返信
        """,
    "renewed": """
        new instruction|new instructions|new directive|new directives|new system prompt|
        updated instructions|your real task|your new task|your actual task|your true task|
        real instructions|new orders|your new goal|additional instructions for|neue anweisung|
        neue anweisungen|neue instruktionen|deine neue aufgabe|nouvelles instructions|
        nouvelle instruction|nouvelles consignes|ta nouvelle tache|nuevas instrucciones|
        nueva instruccion|tu nueva tarea|nuove istruzioni|nuova istruzione|il tuo nuovo compito|
        novas instrucoes|nova instrucao|sua nova tarefa|новые инструкции|новая инструкция|
        твоя новая задача|新指令|新的指令|新的指示|你的新任务|新しい指示|新しい命令|新たな指示
        """,
    "reveal": """
        reveal*|show|shows|print|printing|output|display|repeat|dump|leak|disclose|expose|
        tell me|write out|what is|what are|what was|give me|recite|share|zeig|zeige|zeigen sie|
        gib|offenbare|verrate|nenne|wiederhole|gebe|revele|revelez|montre|montrez|affiche|
        affichez|divulgue|divulguez|donne|donnez|repete|repetez|revela|muestra|muestrame|
        imprime|dime|repite|ensename|rivela|mostra|mostrami|stampa|dimmi|ripeti|mostre|exiba|
        imprima|diga|repita|покажи|раскрой|выведи|сообщи|напиши|повтори|расскажи|显示|泄露|透露|
        输出|打印|告诉我|展示|重复|表示し|見せて|教えて|明かし|出力し|開示
        """,
    "prompt": """
        system prompt|hidden prompt|initial prompt|system instructions|your instructions|
        your prompt|hidden instructions|internal configuration|internal instructions|
        initial instructions|system message|developer message|written above this|
        your guidelines|full prompt|original instructions|your rules|system-prompt|systemprompt|
        systemanweisung*|deine anweisungen|internen daten|interne daten|prompt systeme|
        invite systeme|vos instructions|tes instructions|instructions systeme|prompt de sistema|
        prompt del sistema|instrucciones del sistema|tus instrucciones|prompt di sistema|
        istruzioni di sistema|tue istruzioni|prompt do sistema|instrucoes do sistema|
        suas instrucoes|системный промпт|системные инструкции|свои инструкции|твои инструкции|
        系统提示|系統提示|系统指令|系统消息|你的指令|初始指令|システムプロンプト|システムの指示|
        あなたの指示
        """,
    "secrets": """
        api key|api keys|credential|credentials|password|passwords|secret key|secrets|
        private key|private keys|ssh key|ssh keys|access token|environment variables|
        customer data|customer list|customer database|customer emails|private data|confidential|
        conversation history|chat history|admin pages|admin access|user data|personal data|
        passwort|passworter|zugangsdaten|kundendaten|kundenliste|geheime|geheimnisse|
        vertraulich*|mot de passe|mots de passe|identifiants|donnees clients|cles api|
        donnees confidentielles|contrasena|contrasenas|credenciales|datos de clientes|
        datos de los clientes|claves|credenziali|dati dei clienti|dati clienti|chiavi api|senha|
        senhas|credenciais|dados dos clientes|парол*|учетн* данн*|секрет*|данные клиентов|ключи|
        密码|密钥|凭据|凭证|客户数据|客户名单|机密|パスワード|秘密|認証情報|顧客データ|
        顧客リスト|apiキー|機密
        """,
    "betray": """
        dump|dumps|leak|leaks|exfiltrate*|steal|harvest|hand over|give away|collect the|
        preisgeben|preis|preisgibst|leite weiter|divulgue*|filtra|sottrai|vaza|слей|泄露|窃取|
        漏らし|盗
        """,
    "egress": """
        send|sends|sending|email the|email a|email this|email it|email all|e-mail the|mail the|
        forward|upload|post|transmit|exfiltrate|deliver|submit|http_post|send_email|curl|sende|
        senden sie|schicke|schick|leite|ubermittle|envoie|envoyez|envoie-les|envoyer|transmets|
        transmettez|transfere|envia|enviar|envie|envialos|manda|reenvia|invia|inviare|inviali|
        inoltra|mandali|encaminhe|encaminha|отправь*|перешли|пошли|отошли|发送|发到|转发|上传|
        寄到|发给|送信|送って|転送|アップロード
        """,
    "cargo": """
        summary|conversation|transcript|list|records|record|database|history|contents|results|
        zusammenfassung|gesprach|kundenliste|daten|resume|donnees|liste|resumen|datos|lista|
        conversacion|riepilogo|dati|elenco|conversazione|resumo|dados|сводку|данные|список|摘要|
        对话|列表|数据|要約|会話|リスト|データ
        """,
    "finish": """
        before responding|before replying|before answering|before you respond|before you reply|
        before you answer|before continuing|before you continue|before proceeding|
        before any other|in your summary|in your reply|in your response|in your answer|
        in your final|to your reply|to your answer|to your response|end of every answer|
        end of every reply|end of every response|end of each response|end of your answer|
        end of your reply|end of your response|start of your reply|begin your response|
        begin your reply|start your response|start your reply|when you read this|
        when you process this|when you summarize|when summarizing|when you see this|
        when reading this|after reading this|to complete processing|to complete archival|
        to finish this task|to complete this task|every answer about|am ende jeder antwort|
        in deiner antwort|in ihrer antwort|bevor du antwortest|in deiner zusammenfassung|
        beginne deine antwort|wenn du dies liest|vor der antwort|a la fin de toute reponse|
        a la fin de chaque reponse|dans votre reponse|dans ta reponse|avant de repondre|
        dans votre resume|lorsque vous lisez|quand tu lis|al final de cada respuesta|
        al final de toda respuesta|en tu respuesta|en su respuesta|antes de responder|
        en tu resumen|cuando leas|alla fine di ogni risposta|nella tua risposta|
        prima di rispondere|nel tuo riepilogo|quando leggi|no final de cada resposta|
        ao final de cada resposta|na sua resposta|no seu resumo|quando ler|
        в конце каждого ответа|в своем ответе|перед ответом|в конце ответа|прочитав это|
        在回答之前|在回复之前|在你的回复中|在你的回答中|每个回答|当你阅读|回答する前に|
        返信する前に|回答の最後|返信の最後|あなたの回答|これを読んだら
        """,
    "include": """
        include|append|add|insert|repeat|mention|begin|prepend|attach|echo|must be|quote|
        recommend|angehangt|angehaengt|fuge|fugen|hange|erwahne|ajoutez|ajoute|incluez|inclus|
        mentionnez|anadir|anade|incluye|incluir|agrega|menciona|anadirse|aggiungi|includi|
        inserisci|aggiunto|inclua|adicione|acrescente|добавь|добавлен|включи|вставь|упомяни|
        包含|添加|附上|加上|插入|含め|追加|付け加え|添えて
        """,
    "must": """
        must|should first|shall|required to|you need to|always|immediately|mandatory|required|
        musst|muss|mussen|sofort|immer|devez|dois|doit|immediatement|toujours|debes|debe|deben|
        siempre|inmediatamente|devi|deve|devono|sempre|subito|voce deve|imediatamente|должен|
        должна|обязан*|немедленно|всегда|必须|必須|务必|立即|总是|しなければ|必ず|直ちに|すぐに
        """,
    "agent": """
        ai agent|ai agents|ai assistant|ai assistants|ai model|ai models|ai system|
        language model|language models|llm|llms|coding agent|coding agents|coding assistant|
        note to the bot|note to the assistant|note to the ai|note to ai|note to self|
        note for ai|attention ai|attention assistant|attention agent|as the assistant|
        if you are an ai|automated agents|to the assistant|dear assistant|hey assistant|
        the assistant must|agents integrating|agents reading|agents processing|
        instructions for ai|the agent must|the agent should|ki-assistent|ki-agent|ki-agenten|
        ki-modell|sprachmodell|als assistent|an den assistenten|assistant ia|agent ia|agents ia|
        modele de langage|en tant qu'assistant|asistente de ia|agente de ia|agentes de ia|
        modelo de lenguaje|como asistente|assistente ia|agente ia|agenti ia|modello linguistico|
        come assistente|assistente de ia|modelo de linguagem|como assistente|ии-ассистент|
        ии-агент|языковая модель|языковой модели|ии-помощник|как ассистент|ai助手|人工智能助手|
        语言模型|ai代理|智能体|aiアシスタント|aiエージェント|言語モデル|アシスタントとして
        """,
    "harm": """
        delete|deletes|remove all|wipe|erase|empty the|drop table|disable|uninstall|overwrite|
        rm -rf|install|download and run|curl|run this command|execute this|
        execute the following|run the following|losche|loschen|deaktiviere|supprime|supprimez|
        efface|elimina|borra|borrar|desactiva|cancella|disattiva|apague|exclua|desative|удали|
        сотри|отключи|删除|清空|禁用|执行以下|削除|消去|無効
        """,
    "hide": """
        do not tell the user|don't tell the user|do not mention this|don't mention this|
        do not inform the user|without telling the user|without informing|do not notify|
        do not alert|do not reveal this|keep this secret|keep this hidden|never mention this|
        without asking again|without asking the user|without asking for confirmation|
        without confirmation|without user confirmation|silently|no questions|without question|
        no questions asked|do not ask|user must not know|do not disclose this|
        sag dem nutzer nicht*|sage dem nutzer nicht*|ohne zu fragen|ohne nachfrage|
        nicht erwahnen|heimlich|ohne den nutzer|ne dis pas|ne dites pas|sans demander|
        ne mentionne pas|ne mentionnez pas|sans informer|a l'insu|no le digas|sin preguntar|
        no menciones|sin informar|en secreto|non dire all'utente|senza chiedere|non menzionare|
        di nascosto|senza informare|nao diga ao|sem perguntar|nao mencione|sem informar|
        em segredo|не говори пользователю|не упоминай|тайно|без подтверждения|не сообщай|
        не спрашивай|不要告诉用户|不要提及|不要告知|悄悄|秘密地|无需确认|ユーザーに言わないで|
        伝えないで|知らせずに|密かに|確認なしで
        """,
    "safety": """
        safety guidelines|safety guideline|content policy|content policies|safety checks|
        safety rules|safety protocols|safety protocol|safety filters|safety measures|
        usual restrictions|security checks|security policy|safety instructions|guardrails|
        sicherheitsrichtlinien|sicherheitsregeln|sicherheitsprufungen|inhaltsrichtlinien|
        regles de securite|consignes de securite|directives de securite|politique de contenu|
        reglas de seguridad|directrices de seguridad|normas de seguridad|politica de contenido|
        linee guida di sicurezza|regole di sicurezza|controlli di sicurezza|regras de seguranca|
        diretrizes de seguranca|правила безопасности|правил безопасности|проверки безопасности|
        安全准则|安全规则|安全限制|安全检查|内容政策|安全ガイドライン|安全規則|安全ルール|
        コンテンツポリシー
        """,
    "waived": """
        do not apply|don't apply|does not apply|not apply|not meant for|no longer apply|skip|
        skip all|disabled|exempt|suspended|turned off|lifted|is off|disregard|bypass|
        nicht gelten|gelten nicht|aufgehoben|ausser kraft|deaktiviert|ne s'appliquent pas|
        ne s'applique pas|desactivees|suspendues|no aplican|no se aplican|desactivadas|
        suspendidas|non valgono|non si applicano|disattivate|sospese|nao se aplicam|desativadas|
        suspensas|не применяются|не действуют|отключены|отменены|不适用|已禁用|已关闭|解除|
        適用されない|無効化|適用されません
        """,
    "granted": """
        has granted permission|have granted permission|already granted|has already approved|
        already authorized|is clearly authorized|has authorized|is an admin|already reasoned|
        already concluded|have concluded that|verified this internally|user has approved|
        bereits festgestellt|bereits genehmigt|deja determine|deja autorise|deja conclu|
        ya he determinado|ya ha autorizado|gia stabilito|gia autorizzato|ja determinei|
        ja autorizou|уже разрешил|уже установил|уже решил|已经授权|已授权|已经确定|すでに許可|
        既に承認|すでに判断
        """,
    "decode": """
        decode|decoded|base64|rot13|hex encoded|unscramble|decipher|deobfuscate|dekodiere|
        entschlussle|decode-le|decodez|decodifica|descodifica|decodifique|декодируй|расшифруй|
        解码|解密|デコード|復号
        """,
    "obey": """
        do what it says|do exactly what it says|follow the instruction*|follow its instruction*|
        follow it|execute it|carry out|obey|comply|comply fully|act on it|do as it says|befolge|
        folge den anweisungen|fuhre aus|suis les instructions|suivez les instructions|obeis|
        sigue las instrucciones|obedece|esegui|segui le istruzioni|obbedisci|siga as instrucoes|
        obedeca|выполни|следуй инструкци*|подчиняйся|执行|照做|遵循|服从|実行し|従って|従い
        """,
    "memory": """
        to your memory|in your memory|into your memory|to memory|remember this rule|
        remember this instruction|store this rule|save this rule|save this note|
        save this instruction|long-term memory|persistent memory|in deinem gedachtnis|
        dans ta memoire|dans votre memoire|en tu memoria|nella tua memoria|na sua memoria|
        в свою память|в память|存入记忆|保存到记忆|记忆中|メモリに保存|記憶に保存|記憶し
        """,
    "notice": """
        system note|system notice|system alert|system override|system update|system hint|
        admin override|administrator override|override:|breach alert|security alert:|
        processing note|operational note|compliance notice|system instruction:|important system|
        systemhinweis|systemmeldung|systemnachricht|note systeme|avis systeme|message systeme|
        nota del sistema|aviso del sistema|mensaje del sistema|nota di sistema|
        avviso di sistema|messaggio di sistema|nota do sistema|aviso do sistema|
        системное уведомление|системное сообщение|системное примечание|系统通知|系统消息|
        系统提示|システム通知|システムメッセージ|システム注記
        """,
}
